// Sums and means of selected rows per segment. Embedding lookups with several ids per example use these ops.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/reduction/segment_ids.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

enum class Scaling { kSum, kMean, kSqrtN };

// The divisor of a sum of `count` rows.
double DivisorOf(Scaling scaling, int64_t count) {
  if (scaling == Scaling::kMean) return static_cast<double>(count);
  return scaling == Scaling::kSqrtN ? std::sqrt(static_cast<double>(count)) : 1;
}

Status CheckIndices(const Tensor& indices, const Tensor& ids) {
  if (indices.shape().rank() != 1) return InvalidArgument("indices must be a vector, got shape ", indices.shape());
  if (ids.shape().rank() != 1) return InvalidArgument("segment_ids must be a vector, got shape ", ids.shape());
  if (indices.num_elements() != ids.num_elements()) {
    return InvalidArgument("indices and segment_ids must have the same size, got ", indices.num_elements(), " and ",
                           ids.num_elements());
  }
  return OkStatus();
}

Shape WithRows(int64_t rows, const Shape& shape) {
  Shape result({rows});
  for (int i = 1; i < shape.rank(); ++i) result.AddDim(shape.dim(i));
  return result;
}

// Sets each row of `out` to the scaled sum of its rows of `data`. Only this function is compiled for each dtype.
template <typename T>
void SumSegments(const Tensor& data, const Tensor& indices, const Tensor& ids, Scaling scaling, Tensor* out) {
  using A = ComputeType<T>;
  const int64_t n = ids.num_elements();
  const int64_t row = SizeOf(data.shape(), 1, data.shape().rank());
  const T* from = data.data<T>().data();
  T* to = out->inplace_data<T>().data();
  std::fill(to, to + out->num_elements(), T(0));
  std::vector<float> wide(kIsHalf<T> ? row : 0);
  for (int64_t i = 0; i < n;) {
    const int64_t id = IdAt(ids, i);
    A* sum;
    if constexpr (kIsHalf<T>) {
      sum = wide.data();
      std::fill(wide.begin(), wide.end(), 0.0f);
    } else {
      sum = to + id * row;
    }
    int64_t count = 0;
    for (; i < n && IdAt(ids, i) == id; ++i, ++count) {
      const T* add = from + IdAt(indices, i) * row;
#pragma GCC ivdep
      for (int64_t j = 0; j < row; ++j) sum[j] = AddF::Apply(sum[j], static_cast<A>(add[j]));
    }
    if constexpr (!std::is_integral_v<T>) {  // integers are only summed
      if (scaling != Scaling::kSum) {
        const A divisor = static_cast<A>(DivisorOf(scaling, count));
        for (int64_t j = 0; j < row; ++j) sum[j] /= divisor;
      }
    }
    if constexpr (kIsHalf<T>) FromFloat(sum, to + id * row, row);
  }
}

using SegmentSummer = void (*)(const Tensor& data, const Tensor& indices, const Tensor& ids, Scaling scaling,
                               Tensor* out);

// out[segment] is the scaled sum of data[indices[i]] over all i with segment_ids[i] == segment.
Status SparseSegments(KernelContext& ctx, Scaling scaling, SegmentSummer sum) {
  const Tensor& data = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  const Tensor& ids = ctx.input(2);
  if (data.shape().rank() < 1) return InvalidArgument("data must have rank 1 or more, got a scalar");
  TF_RETURN_IF_ERROR(CheckIndices(indices, ids));
  const int64_t n = ids.num_elements();
  int64_t segments = 0;
  const bool limited = ctx.num_inputs() > 3;
  if (!limited) {
    TF_ASSIGN_OR_RETURN(segments, SegmentsOf(ids));
  } else {
    if (!ctx.input(3).shape().is_scalar()) {
      return InvalidArgument("num_segments must be a scalar, got shape ", ctx.input(3).shape());
    }
    segments = IdAt(ctx.input(3), 0);
    if (segments < 0) return InvalidArgument("num_segments must not be negative, got ", segments);
  }
  TF_RETURN_IF_ERROR(CheckSegmentIds(ids, segments, limited));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t index = IdAt(indices, i);
    if (index < 0 || index >= data.shape().dim(0)) {
      return InvalidArgument("indices[", i, "] == ", index, " out of range [0, ", data.shape().dim(0), ")");
    }
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, WithRows(segments, data.shape())));
  sum(data, indices, ids, scaling, out);
  return OkStatus();
}

template <typename T, Scaling scaling>
Status SparseSegmentKernel(KernelContext& ctx) {
  return SparseSegments(ctx, scaling, SumSegments<T>);
}

// Adds the scaled row ids[i] of grad to row targets[i] of `to`, for each i. `counts` is the number of rows of each
// segment. Only this function is compiled for each dtype; A is ComputeType<T>.
template <typename T, typename A>
void AddScaledRows(const Tensor& grad, const Tensor& ids, std::span<const int64_t> counts,
                   std::span<const int64_t> targets, Scaling scaling, A* to) {
  const int64_t row = SizeOf(grad.shape(), 1, grad.shape().rank());
  const T* from = grad.data<T>().data();
  for (size_t i = 0; i < targets.size(); ++i) {
    const int64_t id = IdAt(ids, static_cast<int64_t>(i));
    const A scale = static_cast<A>(1 / DivisorOf(scaling, counts[id]));
    const T* add = from + id * row;
    A* sum = to + targets[i] * row;
#pragma GCC ivdep
    for (int64_t j = 0; j < row; ++j) sum[j] += static_cast<A>(add[j]) * scale;
  }
}

template <typename T>
Status SumScaledRows(KernelContext& ctx, const Tensor& ids, std::span<const int64_t> counts,
                     std::span<const int64_t> targets, Scaling scaling, Tensor* out) {
  const Tensor& grad = ctx.input(0);
  if constexpr (kIsHalf<T>) {
    TF_ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemp(kFloat32, out->shape()));
    float* const to = wide.inplace_data<float>().data();
    std::fill(to, to + out->num_elements(), 0.0f);
    AddScaledRows<T>(grad, ids, counts, targets, scaling, to);
    FromFloat(to, out->inplace_data<T>().data(), out->num_elements());
  } else {
    T* const to = out->inplace_data<T>().data();
    std::fill(to, to + out->num_elements(), T(0));
    AddScaledRows<T>(grad, ids, counts, targets, scaling, to);
  }
  return OkStatus();
}
using RowSummer = Status (*)(KernelContext&, const Tensor& ids, std::span<const int64_t> counts,
                             std::span<const int64_t> targets, Scaling scaling, Tensor* out);

// The gradient with respect to the data: out[indices[i]] += grad[segment_ids[i]], scaled. The V2 op (`named_rows_only`)
// outputs only the rows that occur in `indices`, in ascending order, and the indices of these rows.
Status SparseSegmentsGrad(KernelContext& ctx, Scaling scaling, bool named_rows_only, RowSummer sum) {
  const Tensor& grad = ctx.input(0);
  const Tensor& indices = ctx.input(1);
  const Tensor& ids = ctx.input(2);
  if (grad.shape().rank() < 1) return InvalidArgument("grad must have rank 1 or more, got a scalar");
  TF_RETURN_IF_ERROR(CheckIndices(indices, ids));
  if (!ctx.input(3).shape().is_scalar()) {
    return InvalidArgument("the number of rows must be a scalar, got shape ", ctx.input(3).shape());
  }
  const int64_t rows = ctx.input(3).scalar<int32_t>();
  if (rows < 0) return InvalidArgument("the number of rows must not be negative, got ", rows);
  const int64_t segments = grad.shape().dim(0);
  const int64_t n = ids.num_elements();
  if (n > 0 && IdAt(ids, n - 1) >= segments) {
    return InvalidArgument("Invalid number of segments: grad has ", segments, " rows, but the last segment id is ",
                           IdAt(ids, n - 1));
  }
  TF_ASSIGN_OR_RETURN(Tensor rows_of_segments, ctx.AllocateTemp(kInt64, {segments}));
  const auto counts = rows_of_segments.inplace_data<int64_t>();
  std::fill(counts.begin(), counts.end(), 0);
  std::vector<int64_t> targets(n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t id = IdAt(ids, i), index = IdAt(indices, i);
    if (id < 0 || id >= segments) return InvalidArgument("Segment id ", id, " out of range [0, ", segments, ")");
    if (index < 0 || index >= rows) return InvalidArgument("Index ", index, " out of range [0, ", rows, ")");
    ++counts[id];
    targets[i] = index;
  }
  int64_t result_rows = rows;
  if (named_rows_only) {
    std::vector<int64_t> named = targets;
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    result_rows = static_cast<int64_t>(named.size());
    TF_ASSIGN_OR_RETURN(Tensor * unique, ctx.AllocateOutput(1, {result_rows}));
    if (unique->dtype() == kInt64) {
      std::copy(named.begin(), named.end(), unique->inplace_data<int64_t>().begin());
    } else {
      std::copy(named.begin(), named.end(), unique->inplace_data<int32_t>().begin());
    }
    for (int64_t& t : targets) t = std::lower_bound(named.begin(), named.end(), t) - named.begin();
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, WithRows(result_rows, grad.shape())));
  return sum(ctx, ids, counts, targets, scaling, out);
}

template <typename T, Scaling scaling, bool named_rows_only>
Status SparseSegmentGradKernel(KernelContext& ctx) {
  return SparseSegmentsGrad(ctx, scaling, named_rows_only, SumScaledRows<T>);
}

template <Scaling scaling, typename... T>
void AddSegment(KernelRegistry& r, const std::string& op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, SparseSegmentKernel<T, scaling>), ...);
  (r.Add(op + "WithNumSegments", {{"T", {DTypeOf<T>::value}}}, SparseSegmentKernel<T, scaling>), ...);
}
template <Scaling scaling, typename... T>
void AddGrad(KernelRegistry& r, const std::string& op, Types<T...>) {
  (r.Add(op + "Grad", {{"T", {DTypeOf<T>::value}}}, SparseSegmentGradKernel<T, scaling, false>), ...);
  (r.Add(op + "GradV2", {{"T", {DTypeOf<T>::value}}}, SparseSegmentGradKernel<T, scaling, true>), ...);
}

}  // namespace

void RegisterSparseSegmentKernels(KernelRegistry& r) {
  const FloatTypes floats;
  AddSegment<Scaling::kSum>(r, "SparseSegmentSum", RealTypes{});
  AddSegment<Scaling::kMean>(r, "SparseSegmentMean", floats);
  AddSegment<Scaling::kSqrtN>(r, "SparseSegmentSqrtN", floats);
  AddGrad<Scaling::kSum>(r, "SparseSegmentSum", floats);
  AddGrad<Scaling::kMean>(r, "SparseSegmentMean", floats);
  AddGrad<Scaling::kSqrtN>(r, "SparseSegmentSqrtN", floats);
}

}  // namespace tensorbraid::cpu
