// Ops that take a region out of a tensor or put one into it.
#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"
#include "ops/array/strided_slice.h"

namespace tensorbraid::pjrt {
namespace {

Status EmitSlice(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor begin_tensor, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const Tensor size_tensor, ctx.static_input(2));
  if (begin_tensor.shape().rank() != 1 || size_tensor.shape().rank() != 1) {
    return InvalidArgument("Expected begin and size arguments to be 1-D tensors, got shapes ", begin_tensor.shape(),
                           " and ", size_tensor.shape());
  }
  TF_ASSIGN_OR_RETURN(const IntVector begin, IntegersOf(begin_tensor, "begin"));
  TF_ASSIGN_OR_RETURN(const IntVector size, IntegersOf(size_tensor, "size"));
  const auto rank = static_cast<size_t>(in.rank());
  if (begin.size() != rank || size.size() != rank) {
    return InvalidArgument("begin and size must have an entry for each of ", rank, " dimensions, got ", begin.size(),
                           " and ", size.size());
  }
  std::vector<int64_t> limits;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim = in.shape.dim(static_cast<int>(i));
    const bool begins_within = begin[i] >= 0 && begin[i] <= dim;
    const int64_t n = begins_within && size[i] == -1 ? dim - begin[i] : size[i];
    if (!begins_within || n < 0 || n > dim - begin[i]) {
      return InvalidArgument("slice of ", n, " elements from index ", begin[i], " is out of range for dimension ", i,
                             " of ", in.shape);
    }
    limits.push_back(begin[i] + n);
  }
  ctx.set_output(0, ctx.builder().Slice(in, {begin.begin(), begin.end()}, limits, std::vector<int64_t>(rank, 1)));
  return OkStatus();
}

// A region with positive strides, and the dimensions to reverse to get the elements in the order of the slice.
struct ForwardRegion {
  std::vector<int64_t> starts, sizes, strides, reversed;
  Shape shape;  // of the slice
};

StatusOr<ForwardRegion> RegionOf(const EmitContext& ctx, const Shape& in) {
  IntVector entries[3];
  for (int i = 0; i < 3; ++i) {
    TF_ASSIGN_OR_RETURN(const Tensor t, ctx.static_input(i + 1));
    TF_ASSIGN_OR_RETURN(entries[i], IntegersOf(t, i == 0 ? "begin" : i == 1 ? "end" : "strides"));
  }
  TF_ASSIGN_OR_RETURN(const StridedRegion region,
                      ResolveStridedSlice(ctx.node(), in, entries[0], entries[1], entries[2]));
  ForwardRegion forward;
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
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const ForwardRegion region, RegionOf(ctx, in.shape));
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
  ctx.set_output(0, Placed(ctx.builder(), region, dy, shape));
  return OkStatus();
}

Status EmitTensorStridedSliceUpdate(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const ForwardRegion region, RegionOf(ctx, in.shape));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(4));
  const auto broadcast = BroadcastShapes(value.shape, region.shape);
  if (!broadcast.ok() || *broadcast != region.shape) {
    return InvalidArgument("the value of shape ", value.shape, " does not broadcast to the slice, ", region.shape);
  }
  stablehlo::Builder& b = ctx.builder();
  const stablehlo::Value placed = Placed(b, region, b.BroadcastTo(value, region.shape), in.shape);
  const stablehlo::Value inside = Placed(b, region, b.Splat(kBool, 1, region.shape), in.shape);
  ctx.set_output(0, b.Select(inside, placed, in));
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

void RegisterArraySliceEmitters(EmitterRegistry& r) {
  r.Add("Slice", {{"T", kTensors}}, EmitSlice).static_inputs = {"begin", "size"};
  r.Add("StridedSlice", {{"T", kTensors}}, EmitStridedSlice).static_inputs = {"begin", "end", "strides"};
  r.Add("StridedSliceGrad", {{"T", kTensors}}, EmitStridedSliceGrad).static_inputs = {"shape", "begin", "end",
                                                                                      "strides"};
  r.Add("TensorStridedSliceUpdate", {{"T", kTensors}}, EmitTensorStridedSliceUpdate).static_inputs = {"begin", "end",
                                                                                                      "strides"};
  r.Add("Pad", {{"T", kTensors}}, EmitPad).static_inputs = {"paddings"};
  r.Add("PadV2", {{"T", kTensors}}, EmitPad).static_inputs = {"paddings"};
}

}  // namespace tensorbraid::pjrt
