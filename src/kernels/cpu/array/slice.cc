// Kernels that take a region out of a tensor or put one into it: Slice, StridedSlice and Pad.
#include "core/text/strings.h"
#include "kernels/cpu/array/strided_runs.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Sets output 0 to the region of input 0, reshaped to region.shape. If the region is a range of rows of dimension 0,
// the output shares the buffer of the input.
Status TakeRegion(KernelContext& ctx, const StridedRegion& region) {
  const Tensor& in = ctx.input(0);
  const int rank = in.shape().rank();
  bool rows = rank > 0 && region.stride[0] == 1;
  for (int d = 1; d < rank; ++d) rows = rows && region.size[d] == in.shape().dim(d) && region.stride[d] == 1;
  if (rank == 0 || rows) {
    Tensor part = ctx.TakeInput(0);
    if (rank > 0 && region.size[0] != part.shape().dim(0)) {
      part = part.Slice(region.begin[0], region.begin[0] + region.size[0]);
    }
    TF_ASSIGN_OR_RETURN(Tensor out, part.Reshaped(region.shape));
    ctx.set_output(0, std::move(out));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, region.shape));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    const E* from = Elements<E>(in);
    E* to = MutableElements<E>(*out);
    ForEachRun(in.shape(), region, [&](int64_t offset, int64_t n) {
      CopyElements(from + offset, n, to);
      to += n;
    });
    return OkStatus();
  });
}

// Sets output 0 to a tensor of `shape` that has the elements of `part` in the region, and the scalar `*rest` (0 if
// `rest` is null) everywhere else.
Status PutRegion(KernelContext& ctx, const Shape& shape, const StridedRegion& region, const Tensor& part,
                 const Tensor* rest) {
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(*out);
    RepeatElement(rest == nullptr ? ZeroElement<E>() : *Elements<E>(*rest), out->num_elements(), to);
    const E* from = Elements<E>(part);
    ForEachRun(shape, region, [&](int64_t offset, int64_t n) {
      CopyElements(from, n, to + offset);
      from += n;
    });
    return OkStatus();
  });
}

Status Slice(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  if (ctx.input(1).shape().rank() != 1 || ctx.input(2).shape().rank() != 1) {
    return InvalidArgument("Expected begin and size arguments to be 1-D tensors, got shapes ", ctx.input(1).shape(),
                           " and ", ctx.input(2).shape());
  }
  TF_ASSIGN_OR_RETURN(const IntVector begin, IntegersOf(ctx.input(1), "begin"));
  TF_ASSIGN_OR_RETURN(IntVector size, IntegersOf(ctx.input(2), "size"));
  const auto rank = static_cast<size_t>(in.rank());
  if (begin.size() != rank || size.size() != rank) {
    return InvalidArgument("begin and size must have an entry for each of ", rank, " dimensions, got ", begin.size(),
                           " and ", size.size());
  }
  StridedRegion region;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim = in.dim(static_cast<int>(i));
    const bool begins_within = begin[i] >= 0 && begin[i] <= dim;
    if (begins_within && size[i] == -1) size[i] = dim - begin[i];
    if (!begins_within || size[i] < 0 || size[i] > dim - begin[i]) {
      return InvalidArgument("slice of ", size[i], " elements from index ", begin[i], " is out of range for dimension ",
                             i, " of ", in);
    }
    region.begin.push_back(begin[i]);
    region.size.push_back(size[i]);
    region.stride.push_back(1);
    region.shape.AddDim(size[i]);
  }
  return TakeRegion(ctx, region);
}

StatusOr<StridedRegion> RegionOf(KernelContext& ctx, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(const IntVector begin, IntegersOf(ctx.input(1), "begin"));
  TF_ASSIGN_OR_RETURN(const IntVector end, IntegersOf(ctx.input(2), "end"));
  TF_ASSIGN_OR_RETURN(const IntVector strides, IntegersOf(ctx.input(3), "strides"));
  return ResolveStridedSlice(ctx.node(), shape, begin, end, strides);
}

Status StridedSlice(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const StridedRegion region, RegionOf(ctx, ctx.input(0).shape()));
  return TakeRegion(ctx, region);
}

Status StridedSliceGrad(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(ctx.input(0), "the shape"));
  TF_ASSIGN_OR_RETURN(const StridedRegion region, RegionOf(ctx, shape));
  const Tensor& dy = ctx.input(4);
  if (dy.shape() != region.shape) {
    return InvalidArgument("dy must have the shape of the slice, ", region.shape, ", got ", dy.shape());
  }
  return PutRegion(ctx, shape, region, dy, nullptr);
}

// Outputs a copy of input 0 in which the region is replaced by `value`, which is input 4.
Status TensorStridedSliceUpdate(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const Tensor& value = ctx.input(4);
  TF_ASSIGN_OR_RETURN(const StridedRegion region, RegionOf(ctx, in.shape()));
  // The value is broadcast to the region.
  bool repeats = false;
  const int lack = region.shape.rank() - value.shape().rank();
  bool fits = lack >= 0;
  for (int d = 0; fits && d < value.shape().rank(); ++d) {
    const int64_t have = value.shape().dim(d), want = region.shape.dim(d + lack);
    fits = have == want || have == 1;
    repeats = repeats || have != want;
  }
  if (!fits)
    return InvalidArgument("the value of shape ", value.shape(), " does not broadcast to the slice, ", region.shape);
  for (int d = 0; d < lack; ++d) repeats = repeats || region.shape.dim(d) != 1;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(*out);
    CopyElements(Elements<E>(in), in.num_elements(), to);
    const E* from = Elements<E>(value);
    int64_t at = 0;  // offset in the region, row-major
    ForEachRun(in.shape(), region, [&](int64_t offset, int64_t n) {
      for (int64_t i = 0; i < n; ++i, ++at) {
        int64_t source = repeats ? 0 : at;
        int64_t rest = at, stride = 1;
        for (int d = region.shape.rank() - 1; repeats && d >= lack; --d) {
          const int64_t have = value.shape().dim(d - lack);
          source += have == 1 ? 0 : rest % region.shape.dim(d) * stride;
          rest /= region.shape.dim(d);
          stride *= have;
        }
        to[offset + i] = from[source];
      }
    });
    return OkStatus();
  });
}

Status Pad(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  const Tensor& paddings = ctx.input(1);
  if (paddings.shape() != Shape({in.rank(), 2})) {
    return InvalidArgument(
        "The first dimension of paddings must be the rank of inputs, and the second 2: expected shape [", in.rank(),
        ",2], got ", paddings.shape());
  }
  TF_ASSIGN_OR_RETURN(const Tensor flat, paddings.Reshaped({2 * in.rank()}));
  TF_ASSIGN_OR_RETURN(const IntVector around, IntegersOf(flat, "paddings"));
  StridedRegion region;
  Shape shape;
  for (int i = 0; i < in.rank(); ++i) {
    int64_t total;
    if (around[2 * i] < 0 || around[2 * i + 1] < 0 ||
        __builtin_add_overflow(around[2 * i], around[2 * i + 1], &total) ||
        __builtin_add_overflow(total, in.dim(i), &total)) {
      return InvalidArgument("paddings are out of range: ", paddings.ToString());
    }
    shape.AddDim(total);
    region.begin.push_back(around[2 * i]);
    region.stride.push_back(1);
    region.size.push_back(in.dim(i));
  }
  if (ctx.num_inputs() > 2 && ctx.input(2).num_elements() != 1) {
    return InvalidArgument("the constant must be a scalar, got shape ", ctx.input(2).shape());
  }
  return PutRegion(ctx, shape, region, ctx.input(0), ctx.num_inputs() > 2 ? &ctx.input(2) : nullptr);
}

}  // namespace

void RegisterArraySliceKernels(KernelRegistry& r) {
  r.Add("Slice", {}, Slice);
  r.Add("StridedSlice", {}, StridedSlice);
  r.Add("StridedSliceGrad", {}, StridedSliceGrad);
  r.Add("TensorStridedSliceUpdate", {}, TensorStridedSliceUpdate);
  r.Add("Pad", {}, Pad);
  r.Add("PadV2", {}, Pad);
}

}  // namespace tensorbraid::cpu
