// Ops that join tensors along an axis, or split them.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

StatusOr<int> StaticAxis(const EmitContext& ctx, int input, int rank) {
  TF_ASSIGN_OR_RETURN(const Tensor axis, ctx.static_input(input));
  TF_ASSIGN_OR_RETURN(const int64_t named, IntegerOf(axis, "the axis"));
  return AxisOf(named, rank);
}

Status EmitConcat(EmitContext& ctx, int first, int last, int axis_input) {
  std::vector<stablehlo::Value> parts;
  for (int i = first; i < last; ++i) {
    TF_ASSIGN_OR_RETURN(stablehlo::Value part, ctx.input(i));
    parts.push_back(std::move(part));
  }
  const Shape& like = parts[0].shape;
  if (like.rank() == 0) return InvalidArgument("scalars cannot be concatenated");
  TF_ASSIGN_OR_RETURN(const int axis, StaticAxis(ctx, axis_input, like.rank()));
  for (const stablehlo::Value& part : parts) {
    Shape shape = part.shape;
    if (shape.rank() == like.rank()) shape.set_dim(axis, like.dim(axis));
    if (shape != like) {
      return InvalidArgument("shapes ", like, " and ", part.shape, " cannot be concatenated along dimension ", axis);
    }
  }
  ctx.set_output(0, ctx.builder().Concatenate(parts, axis));
  return OkStatus();
}

Status EmitPack(EmitContext& ctx) {
  std::vector<stablehlo::Value> parts;
  int axis = 0;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(const stablehlo::Value part, ctx.input(i));
    TF_ASSIGN_OR_RETURN(axis, AxisOf(ctx.attr<int64_t>("axis"), part.rank() + 1));
    Shape shape;
    for (int d = 0; d <= part.rank(); ++d) {
      if (d == axis) shape.AddDim(1);
      if (d < part.rank()) shape.AddDim(part.shape.dim(d));
    }
    parts.push_back(ctx.builder().Reshape(part, shape));
    if (parts[i].shape != parts[0].shape) {
      TF_ASSIGN_OR_RETURN(const Shape first, ctx.input_shape(0));
      return InvalidArgument("shapes ", first, " and ", part.shape, " differ and cannot be packed");
    }
  }
  ctx.set_output(0, ctx.builder().Concatenate(parts, axis));
  return OkStatus();
}

// Splits `in` along `axis` into outputs of the given sizes. If `remove`, the outputs do not have the dimension.
void SetParts(EmitContext& ctx, const stablehlo::Value& in, int axis, const IntVector& sizes, bool remove) {
  const std::vector<int64_t> strides(in.rank(), 1);
  std::vector<int64_t> starts(in.rank(), 0), limits(in.shape.dims().begin(), in.shape.dims().end());
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    limits[axis] = starts[axis] + sizes[i];
    stablehlo::Value part = ctx.builder().Slice(in, starts, limits, strides);
    starts[axis] = limits[axis];
    if (remove) {
      Shape shape;
      for (int d = 0; d < in.rank(); ++d) {
        if (d != axis) shape.AddDim(in.shape.dim(d));
      }
      part = ctx.builder().Reshape(part, shape);
    }
    ctx.set_output(i, part);
  }
}

Status EmitSplit(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(1));
  TF_ASSIGN_OR_RETURN(const int axis, StaticAxis(ctx, 0, in.rank()));
  const int64_t num = ctx.num_outputs();
  if (in.shape.dim(axis) % num != 0) {
    return InvalidArgument("dimension ", axis, " of ", in.shape, " cannot be split into ", num, " equal parts");
  }
  SetParts(ctx, in, axis, IntVector(num, in.shape.dim(axis) / num), /*remove=*/false);
  return OkStatus();
}

Status EmitSplitV(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor sizes_tensor, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(IntVector sizes, IntegersOf(sizes_tensor, "the sizes"));
  TF_ASSIGN_OR_RETURN(const int axis, StaticAxis(ctx, 2, in.rank()));
  if (static_cast<int>(sizes.size()) != ctx.num_outputs()) {
    return InvalidArgument("there must be ", ctx.num_outputs(), " sizes, got ", sizes.size());
  }
  const int64_t have = in.shape.dim(axis);
  int64_t total = 0;
  int64_t* inferred = nullptr;
  for (int64_t& size : sizes) {
    if (size == -1 && inferred == nullptr) {
      inferred = &size;
    } else if (size < 0 || size > have) {
      return InvalidArgument("a size of ", size, " is out of range for dimension ", axis, " of ", in.shape);
    } else {
      total += size;
    }
  }
  if (inferred != nullptr && total <= have) {
    *inferred = have - total;
    total = have;
  }
  if (total != have) {
    return InvalidArgument("the sizes add up to ", total, ", but dimension ", axis, " of ", in.shape, " has size ",
                           have);
  }
  SetParts(ctx, in, axis, sizes, /*remove=*/false);
  return OkStatus();
}

Status EmitUnpack(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(ctx.attr<int64_t>("axis"), in.rank()));
  if (in.shape.dim(axis) != ctx.num_outputs()) {
    return InvalidArgument("cannot unpack dimension ", axis, " of ", in.shape, " into ", ctx.num_outputs(), " tensors");
  }
  SetParts(ctx, in, axis, IntVector(ctx.num_outputs(), 1), /*remove=*/true);
  return OkStatus();
}

}  // namespace

void RegisterArrayJoinEmitters(EmitterRegistry& r) {
  const EmitFn concat = [](EmitContext& ctx) { return EmitConcat(ctx, 1, ctx.num_inputs(), 0); };
  const EmitFn concat_v2 = [](EmitContext& ctx) {
    return EmitConcat(ctx, 0, ctx.num_inputs() - 1, ctx.num_inputs() - 1);
  };
  r.Add("Concat", {{"T", kTensors}}, concat).static_inputs = {"concat_dim"};
  r.Add("ConcatV2", {{"T", kTensors}}, concat_v2).static_inputs = {"axis"};
  r.Add("ConcatOffset", {}, nullptr).static_inputs = {"concat_dim", "shape"};
  r.Add("Pack", {{"T", kTensors}}, EmitPack);
  r.Add("Unpack", {{"T", kTensors}}, EmitUnpack);
  r.Add("Split", {{"T", kTensors}}, EmitSplit).static_inputs = {"split_dim"};
  r.Add("SplitV", {{"T", kTensors}}, EmitSplitV).static_inputs = {"size_splits", "split_dim"};
}

}  // namespace tensorbraid::pjrt
