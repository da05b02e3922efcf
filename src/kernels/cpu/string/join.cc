// Joins strings of several tensors, along axes, or by segments.
#include <algorithm>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/string/string.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Status StringJoin(KernelContext& ctx) {
  const auto& separator = ctx.node().attr<std::string>("separator");
  Shape shape;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const Shape& in = ctx.input(i).shape();
    if (in.rank() == 0) continue;
    if (shape.rank() != 0 && shape != in) {
      return InvalidArgument("inputs must be scalars or have the same shape, got ", shape, " and ", in);
    }
    shape = in;
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  auto to = out->inplace_data<std::string>();
  TextMemory memory;
  for (size_t n = 0; n < to.size(); ++n) {
    Joined joined(separator, memory);
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      const auto in = ctx.input(i).data<std::string>();
      TF_RETURN_IF_ERROR(joined.Add(in[ctx.input(i).shape().rank() == 0 ? 0 : n]));
    }
    to[n] = joined.Take();
  }
  return OkStatus();
}

// Iterates over some dimensions of a tensor. At(n) is the offset of position n; the first listed dimension varies
// fastest.
struct Walk {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  int64_t count() const {
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    return n;
  }
  int64_t At(int64_t n) const {
    int64_t at = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      at += n % sizes[i] * strides[i];
      n /= sizes[i];
    }
    return at;
  }
};

Status ReduceJoin(KernelContext& ctx) {
  const Shape& in_shape = ctx.input(0).shape();
  const int rank = in_shape.rank();
  TF_ASSIGN_OR_RETURN(const IntVector axes, IntegersOf(ctx.input(1), "reduction_indices"));
  std::vector<int64_t> strides(rank, 1);
  for (int i = rank - 2; i >= 0; --i) strides[i] = strides[i + 1] * in_shape.dim(i + 1);
  std::vector<bool> reduced(rank, false);
  Walk joined;
  for (int64_t a : axes) {
    if (a < -rank || a >= rank) {
      return OutOfRange("Invalid reduction dimension ", a, " of an input with ", rank, " dimension(s)");
    }
    const auto axis = static_cast<int>(a < 0 ? a + rank : a);
    if (reduced[axis]) return InvalidArgument("Duplicate reduction dimension ", axis);
    reduced[axis] = true;
    joined.sizes.push_back(in_shape.dim(axis));
    joined.strides.push_back(strides[axis]);
  }
  const bool keep_dims = ctx.node().attr<bool>("keep_dims");
  Shape shape;
  Walk kept;
  for (int i = 0; i < rank; ++i) {
    if (!reduced[i] || keep_dims) shape.AddDim(reduced[i] ? 1 : in_shape.dim(i));
    if (reduced[i]) continue;
    kept.sizes.insert(kept.sizes.begin(), in_shape.dim(i));
    kept.strides.insert(kept.strides.begin(), strides[i]);
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const auto in = ctx.input(0).data<std::string>();
  const auto& separator = ctx.node().attr<std::string>("separator");
  auto to = out->inplace_data<std::string>();
  const int64_t parts = joined.count();
  TextMemory memory;
  for (size_t n = 0; n < to.size(); ++n) {
    const int64_t base = kept.At(static_cast<int64_t>(n));
    Joined text(separator, memory);
    for (int64_t i = 0; i < parts; ++i) TF_RETURN_IF_ERROR(text.Add(in[static_cast<size_t>(base + joined.At(i))]));
    to[n] = text.Take();
  }
  return OkStatus();
}

Status UnsortedSegmentJoin(KernelContext& ctx) {
  const Shape& in_shape = ctx.input(0).shape();
  const Shape& ids_shape = ctx.input(1).shape();
  if (ctx.input(2).shape().rank() != 0) {
    return InvalidArgument("num_segments must be a scalar, got shape ", ctx.input(2).shape());
  }
  TF_ASSIGN_OR_RETURN(const int64_t segments, IntegerOf(ctx.input(2), "num_segments"));
  if (segments < 0) return InvalidArgument("num_segments must not be negative, got ", segments);
  const int ids_rank = ids_shape.rank();
  bool fits = ids_rank <= in_shape.rank();
  for (int i = 0; fits && i < ids_rank; ++i) fits = ids_shape.dim(i) == in_shape.dim(i);
  if (!fits)
    return InvalidArgument("the shape of inputs must start with the shape of segment_ids, got ", in_shape, " and ",
                           ids_shape);
  Shape shape({segments});
  for (int i = ids_rank; i < in_shape.rank(); ++i) shape.AddDim(in_shape.dim(i));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  auto to = out->inplace_data<std::string>();
  const auto in = ctx.input(0).data<std::string>();
  const int64_t row = SizeOf(in_shape, ids_rank, in_shape.rank());
  TextMemory memory;
  std::vector<Joined> joined(to.size(), Joined(ctx.node().attr<std::string>("separator"), memory));
  const bool narrow = ctx.input(1).dtype() == kInt32;
  for (int64_t i = 0; i < ctx.input(1).num_elements(); ++i) {
    const int64_t id = narrow ? ctx.input(1).data<int32_t>()[i] : ctx.input(1).data<int64_t>()[i];
    if (id < 0 || id >= segments) return InvalidArgument("segment id ", id, " is not in [0, ", segments, ")");
    for (int64_t j = 0; j < row; ++j) {
      TF_RETURN_IF_ERROR(joined[static_cast<size_t>(id * row + j)].Add(in[static_cast<size_t>(i * row + j)]));
    }
  }
  for (size_t i = 0; i < to.size(); ++i) to[i] = joined[i].Take();
  return OkStatus();
}

}  // namespace

void RegisterStringJoinKernels(KernelRegistry& r) {
  r.Add("StringJoin", {}, StringJoin);
  r.Add("ReduceJoin", {}, ReduceJoin);
  r.Add("UnsortedSegmentJoin", {}, UnsortedSegmentJoin);
}

}  // namespace tensorbraid::cpu
