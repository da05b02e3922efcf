// Ops that take a region out of a tensor or put one into it.
#include "kernels/pjrt/array/slice.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/array/moving_slice.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"
#include "ops/array/strided_slice.h"

namespace tensorbraid::pjrt {
namespace {

// The number of elements of a slice along dimension `i` of a tensor of shape `in`.
StatusOr<int64_t> SizeOfSlice(const Shape& in, int i, int64_t begin, int64_t size) {
  const int64_t dim = in.dim(i);
  const bool begins_within = begin >= 0 && begin <= dim;
  const int64_t n = begins_within && size == -1 ? dim - begin : size;
  if (begins_within && n >= 0 && n <= dim - begin) return n;
  return InvalidArgument("slice of ", n, " elements from index ", begin, " is out of range for dimension ", i, " of ",
                         in);
}

Status EmitSlice(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Shape begin_shape, ctx.input_shape(1));
  TF_ASSIGN_OR_RETURN(const Tensor size_tensor, ctx.static_input(2));
  if (begin_shape.rank() != 1 || size_tensor.shape().rank() != 1) {
    return InvalidArgument("Expected begin and size arguments to be 1-D tensors, got shapes ", begin_shape, " and ",
                           size_tensor.shape());
  }
  TF_ASSIGN_OR_RETURN(const KnownEntries begin, EntriesOf(ctx, 1));
  TF_ASSIGN_OR_RETURN(const IntVector size, IntegersOf(size_tensor, "size"));
  const auto rank = static_cast<size_t>(in.rank());
  if (begin.size() != rank || size.size() != rank) {
    return InvalidArgument("begin and size must have an entry for each of ", rank, " dimensions, got ", begin.size(),
                           " and ", size.size());
  }
  std::vector<int64_t> starts, limits, sizes;
  std::vector<MovingDim> moving;
  for (size_t i = 0; i < rank; ++i) {
    const int dim = static_cast<int>(i);
    TF_ASSIGN_OR_RETURN(const int64_t n, SizeOfSlice(in.shape, dim, begin[i].value_or(0), size[i]));
    if (!begin[i].has_value()) moving.push_back({dim, dim});
    starts.push_back(begin[i].value_or(0));
    sizes.push_back(n);
    limits.push_back(starts[i] + n);
  }
  stablehlo::Builder& b = ctx.builder();
  if (moving.empty()) {
    ctx.set_output(0, b.Slice(in, starts, limits, std::vector<int64_t>(rank, 1)));
    return OkStatus();
  }
  TF_RETURN_IF_ERROR(ctx.check_on_host(1, [shape = in.shape, size](const Tensor& value) -> Status {
    TF_ASSIGN_OR_RETURN(const IntVector begin, IntegersOf(value, "begin"));
    for (int i = 0; i < shape.rank(); ++i) {
      TF_RETURN_IF_ERROR(SizeOfSlice(shape, i, begin[i], size[i]).status());
    }
    return OkStatus();
  }));
  TF_ASSIGN_OR_RETURN(const auto places, MovingStarts(ctx, in.shape, moving, starts));
  ctx.set_output(0, DynamicSlice(b, in, places, sizes));
  return OkStatus();
}

// A region with positive strides, and the dimensions to reverse to get the elements in the order of the slice.
struct ForwardRegion {
  std::vector<int64_t> starts, sizes, strides, reversed;
  Shape shape;  // of the slice
  // The dimensions of which each run selects another element. Along these, the region is that of the first one.
  std::vector<MovingDim> moving;
};

// The dimension that an entry of a slice without new axes selects from, in a tensor of this rank.
int DimOfEntry(const Node& node, int entry, int num_entries, int rank) {
  const auto ellipsis = static_cast<uint64_t>(node.attr<int64_t>("ellipsis_mask"));
  const bool is_behind = (ellipsis & ((uint64_t{1} << entry) - 1)) != 0;
  return is_behind ? rank - num_entries + entry : entry;
}

StatusOr<ForwardRegion> RegionOf(EmitContext& ctx, const Shape& in) {
  IntVector entries[3];
  ForwardRegion forward;
  for (int i = 0; i < 3; ++i) {
    if (!ctx.is_static(i + 1) && i < 2) {
      TF_ASSIGN_OR_RETURN(const KnownEntries known, EntriesOf(ctx, i + 1));
      for (size_t j = 0; j < known.size(); ++j) {
        const auto shrinks = static_cast<uint64_t>(ctx.node().attr<int64_t>("shrink_axis_mask"));
        const bool moves = i == 0 && !known[j].has_value() && (shrinks >> j & 1) != 0;
        const int entry = static_cast<int>(j);
        if (moves) {
          forward.moving.push_back({DimOfEntry(ctx.node(), entry, static_cast<int>(known.size()), in.rank()), entry});
        }
        entries[i].push_back(known[j].value_or(i));
      }
      continue;
    }
    TF_ASSIGN_OR_RETURN(const Tensor t, ctx.static_input(i + 1));
    TF_ASSIGN_OR_RETURN(entries[i], IntegersOf(t, i == 0 ? "begin" : i == 1 ? "end" : "strides"));
  }
  TF_ASSIGN_OR_RETURN(const StridedRegion region,
                      ResolveStridedSlice(ctx.node(), in, entries[0], entries[1], entries[2]));
  if (!forward.moving.empty()) {
    TF_RETURN_IF_ERROR(ctx.check_on_host(
        1, [node = &ctx.node(), in, end = entries[1], strides = entries[2]](const Tensor& value) -> Status {
          TF_ASSIGN_OR_RETURN(const IntVector begin, IntegersOf(value, "begin"));
          return ResolveStridedSlice(*node, in, begin, end, strides).status();
        }));
  }
  forward.shape = region.shape;
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t size = region.size[i], stride = region.stride[i], begin = region.begin[i];
    forward.sizes.push_back(size);
    forward.starts.push_back(size == 0 ? 0 : stride > 0 ? begin : begin + (size - 1) * stride);
    // The stride of a single element does not matter, and may be huge.
    forward.strides.push_back(size <= 1 ? 1 : std::abs(stride));
    if (stride < 0 && size > 1) forward.reversed.push_back(i);
  }
  return forward;
}

Status EmitStridedSlice(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const ForwardRegion region, RegionOf(ctx, in.shape));
  if (!region.moving.empty()) {
    std::vector<int64_t> sizes(in.shape.dims().begin(), in.shape.dims().end());
    for (const MovingDim& m : region.moving) sizes[static_cast<size_t>(m.dim)] = 1;
    TF_ASSIGN_OR_RETURN(const auto starts,
                        MovingStarts(ctx, in.shape, region.moving, std::vector<int64_t>(sizes.size(), 0)));
    in = DynamicSlice(ctx.builder(), in, starts, sizes);
  }
  std::vector<int64_t> limits;
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t size = region.sizes[i];
    limits.push_back(size == 0 ? region.starts[i] : region.starts[i] + (size - 1) * region.strides[i] + 1);
  }
  stablehlo::Builder& b = ctx.builder();
  stablehlo::Value part = b.Slice(in, region.starts, limits, region.strides);
  if (!region.reversed.empty()) part = b.Reverse(part, region.reversed);
  ctx.set_output(0, b.Reshape(part, region.shape));
  return OkStatus();
}

// `part` in its place in a tensor of `shape`, and zeros elsewhere. REQUIRES: part has the shape of the region.
stablehlo::Value Placed(stablehlo::Builder& b, const ForwardRegion& region, stablehlo::Value part, const Shape& shape) {
  part = b.Reshape(part, Shape(region.sizes));
  if (!region.reversed.empty()) part = b.Reverse(part, region.reversed);
  std::vector<int64_t> high, interior;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t size = region.sizes[i];
    interior.push_back(region.strides[i] - 1);
    high.push_back(shape.dim(i) - region.starts[i] - (size == 0 ? 0 : (size - 1) * region.strides[i] + 1));
  }
  return b.Pad(part, b.Splat(part.dtype, 0), region.starts, high, interior);
}

Status EmitStridedSliceGrad(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(0));
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(sizes, "the shape"));
  TF_ASSIGN_OR_RETURN(const ForwardRegion region, RegionOf(ctx, shape));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value dy, ctx.input(4));
  if (dy.shape != region.shape) {
    return InvalidArgument("dy must have the shape of the slice, ", region.shape, ", got ", dy.shape);
  }
  stablehlo::Builder& b = ctx.builder();
  if (region.moving.empty()) {
    ctx.set_output(0, Placed(b, region, dy, shape));
    return OkStatus();
  }
  Shape part = shape;
  for (const MovingDim& m : region.moving) part.set_dim(m.dim, 1);
  TF_ASSIGN_OR_RETURN(std::vector<stablehlo::Value> operands,
                      MovingStarts(ctx, shape, region.moving, std::vector<int64_t>(shape.rank(), 0)));
  operands.insert(operands.begin(), {b.Splat(dy.dtype, 0, shape), Placed(b, region, dy, part)});
  ctx.set_output(0, b.Op("dynamic_update_slice", operands, dy.dtype, shape));
  return OkStatus();
}

Status EmitTensorStridedSliceUpdate(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(4));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value updated, WithStridedSlice(ctx, in, value, /*is_assignment=*/false));
  ctx.set_output(0, updated);
  return OkStatus();
}

Status EmitPad(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor paddings, ctx.static_input(1));
  if (paddings.shape() != Shape({in.rank(), 2})) {
    return InvalidArgument(
        "The first dimension of paddings must be the rank of inputs, and the second 2: expected shape [", in.rank(),
        ",2], got ", paddings.shape());
  }
  TF_ASSIGN_OR_RETURN(const Tensor flat, paddings.Reshaped({2 * in.rank()}));
  TF_ASSIGN_OR_RETURN(const IntVector around, IntegersOf(flat, "paddings"));
  std::vector<int64_t> low, high;
  for (int i = 0; i < in.rank(); ++i) {
    int64_t total;
    if (around[2 * i] < 0 || around[2 * i + 1] < 0 ||
        __builtin_add_overflow(around[2 * i], around[2 * i + 1], &total) ||
        __builtin_add_overflow(total, in.shape.dim(i), &total)) {
      return InvalidArgument("paddings are out of range: ", paddings.ToString());
    }
    low.push_back(around[2 * i]);
    high.push_back(around[2 * i + 1]);
  }
  stablehlo::Builder& b = ctx.builder();
  stablehlo::Value value;
  if (ctx.num_inputs() > 2) {
    TF_ASSIGN_OR_RETURN(value, ctx.input(2));
    if (value.shape.num_elements() != 1) {
      return InvalidArgument("the constant must be a scalar, got shape ", value.shape);
    }
    value = b.Reshape(value, {});
  } else {
    value = b.Splat(in.dtype, 0);
  }
  ctx.set_output(0, b.Pad(in, value, low, high, std::vector<int64_t>(in.rank(), 0)));
  return OkStatus();
}

}  // namespace

StatusOr<stablehlo::Value> WithStridedSlice(EmitContext& ctx, const stablehlo::Value& in, stablehlo::Value value,
                                            bool is_assignment) {
  TF_ASSIGN_OR_RETURN(const ForwardRegion region, RegionOf(ctx, in.shape));
  stablehlo::Builder& b = ctx.builder();
  if (is_assignment && region.shape.num_elements() == 0) return in;
  const Shape given = value.shape;
  while (is_assignment && value.rank() > region.shape.rank() && value.shape.dim(0) == 1) {
    value = b.Reshape(value, Shape(value.shape.dims().subspan(1)));
  }
  const auto broadcast = BroadcastShapes(value.shape, region.shape);
  if (!broadcast.ok() || *broadcast != region.shape) {
    return InvalidArgument("the value of shape ", given, " does not broadcast to the slice, ", region.shape);
  }
  const stablehlo::Value placed = Placed(b, region, b.BroadcastTo(value, region.shape), in.shape);
  const stablehlo::Value inside = Placed(b, region, b.Splat(kBool, 1, region.shape), in.shape);
  return b.Select(inside, placed, in);
}

void RegisterArraySliceEmitters(EmitterRegistry& r) {
  EmitterDef& slice = r.Add("Slice", {{"T", kTensors}}, EmitSlice);
  slice.static_inputs = {"begin", "size"};
  slice.inputs_on_host = MovingInputsOfSlice;
  EmitterDef& strided = r.Add("StridedSlice", {{"T", kTensors}}, EmitStridedSlice);
  strided.static_inputs = {"begin", "end", "strides"};
  strided.inputs_on_host = MovingInputsOfStridedSlice;
  EmitterDef& gradient = r.Add("StridedSliceGrad", {{"T", kTensors}}, EmitStridedSliceGrad);
  gradient.static_inputs = {"shape", "begin", "end", "strides"};
  gradient.inputs_on_host = MovingInputsOfStridedSlice;
  r.Add("TensorStridedSliceUpdate", {{"T", kTensors}}, EmitTensorStridedSliceUpdate).static_inputs = {"begin", "end",
                                                                                                      "strides"};
  r.Add("Pad", {{"T", kTensors}}, EmitPad).static_inputs = {"paddings"};
  r.Add("PadV2", {{"T", kTensors}}, EmitPad).static_inputs = {"paddings"};
}

}  // namespace tensorbraid::pjrt
