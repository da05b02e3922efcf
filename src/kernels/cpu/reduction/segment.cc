// Segment reductions: rows with the same segment id are reduced to one. Ids may be sorted or unsorted.
#include <cmath>
#include <limits>

#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/reduction/segment_ids.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The value of a segment without rows is `Empty` for unsorted ids and `Gap` for sorted ids.
struct SumS : AddF {
  static constexpr bool kWraps = true;
  template <typename A>
  static A Empty() {
    return A(0);
  }
  template <typename A>
  static A Gap() {
    return A(0);
  }
};
struct MeanS : SumS {
  static constexpr bool kWraps = false;  // the quotient depends on the sign
  static constexpr bool kDivides = true;
};
struct ProdS : MulF {
  static constexpr bool kWraps = true;
  template <typename A>
  static A Empty() {
    return A(1);
  }
  template <typename A>
  static A Gap() {
    return A(1);
  }
};
// As in TensorFlow, a NaN is replaced by the next value.
struct MaxS {
  static constexpr bool kWraps = false;
  template <typename A>
  static A Apply(A a, A b) {
    return a > b ? a : b;
  }
  template <typename A>
  static A Empty() {
    return std::numeric_limits<A>::lowest();
  }
  template <typename A>
  static A Gap() {
    return A(0);
  }
};
struct MinS {
  static constexpr bool kWraps = false;
  template <typename A>
  static A Apply(A a, A b) {
    return a < b ? a : b;
  }
  template <typename A>
  static A Empty() {
    return std::numeric_limits<A>::max();
  }
  template <typename A>
  static A Gap() {
    return A(0);
  }
};

// For float16 and bfloat16, the extremes are those of the type itself, not those of float32, in which it is computed.
template <typename F, typename T>
ComputeType<T> EmptyOf() {
  if constexpr (kIsHalf<T>) {
    const float v = F::template Empty<float>();
    if (std::abs(v) <= 1) return v;
    T most;
    most.bits = std::is_same_v<T, Float16> ? 0x7bff : 0x7f7f;  // the largest finite number
    return v < 0 ? -static_cast<float>(most) : static_cast<float>(most);
  } else {
    return F::template Empty<T>();
  }
}

StatusOr<int64_t> NumSegments(const Tensor& t) {
  if (!t.shape().is_scalar()) return InvalidArgument("num_segments should be a scalar, got shape ", t.shape());
  const int64_t n = IdAt(t, 0);
  if (n < 0) return InvalidArgument("num_segments must not be negative, got ", n);
  return n;
}

// The output [segments, row]. Finish rounds the results to 16-bit floats, if the output has them.
struct Results {
  Tensor* out = nullptr;
  Tensor wide;
  void* data = nullptr;  // the elements, in the type in which they are computed
  int64_t row = 1;
  int64_t size = 0;  // number of elements

  // `skipped` is the number of leading dimensions of the data that the segment ids have.
  Status Allocate(KernelContext& ctx, int64_t segments, const Shape& data_shape, int skipped) {
    Shape shape({segments});
    for (int i = skipped; i < data_shape.rank(); ++i) {
      shape.AddDim(data_shape.dim(i));
      row *= data_shape.dim(i);
    }
    TF_ASSIGN_OR_RETURN(out, ctx.AllocateOutput(0, shape));
    size = out->num_elements();
    data = out->inplace_raw_data();
    if (out->dtype() == kFloat16 || out->dtype() == kBfloat16) {
      TF_ASSIGN_OR_RETURN(wide, ctx.AllocateTemp(kFloat32, shape));
      data = wide.inplace_raw_data();
    }
    return OkStatus();
  }
  void Finish() {
    if (!wide.is_valid()) return;
    const float* from = wide.data<float>().data();
    if (out->dtype() == kFloat16) FromFloat(from, out->inplace_data<Float16>().data(), size);
    if (out->dtype() == kBfloat16) FromFloat(from, out->inplace_data<Bfloat16>().data(), size);
  }
};

// The type for which the loops are compiled: T, or if F::kWraps the unsigned type of the same size, which gives the
// same bits.
template <typename F, typename T>
using LoopType =
    typename std::conditional_t<F::kWraps && std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

template <typename F, typename T>
void Join(ComputeType<T>* sum, const T* with, int64_t row) {
  using A = ComputeType<T>;
#pragma GCC ivdep
  for (int64_t j = 0; j < row; ++j) sum[j] = F::Apply(sum[j], static_cast<A>(with[j]));
}

// Checks the shapes of data and ids, and returns the number of segments.
StatusOr<int64_t> CheckUnsorted(const Tensor& data, const Tensor& ids, const Tensor& num_segments) {
  TF_ASSIGN_OR_RETURN(const int64_t segments, NumSegments(num_segments));
  const int ids_rank = ids.shape().rank();
  if (data.shape().rank() < ids_rank || Shape(data.shape().dims().first(ids_rank)) != ids.shape()) {
    return InvalidArgument("the shape of data ", data.shape(), " must begin with the shape of segment_ids ",
                           ids.shape());
  }
  return segments;
}

Status OutOfSegments(const Tensor& ids, int64_t i, int64_t segments) {
  return cpu::SegmentOutOfRange(ids.shape(), i, IdAt(ids, i), segments);
}

// The index of the first id that is not below `segments`, or -1 if all are below.
int64_t FirstOutside(const Tensor& ids, int64_t segments) {
  for (int64_t i = 0; i < ids.num_elements(); ++i) {
    if (IdAt(ids, i) >= segments) return i;
  }
  return -1;
}

// Reduces data[ids.shape, row] to results[segments, row]. Rows with a negative id are ignored.
template <typename F, typename T>
void JoinUnsorted(const Tensor& data, const Tensor& ids, const Results& results) {
  ComputeType<T>* const to = static_cast<ComputeType<T>*>(results.data);
  std::fill(to, to + results.size, EmptyOf<F, T>());
  const T* from = static_cast<const T*>(data.raw_data());
  for (int64_t i = 0; i < ids.num_elements(); ++i) {
    const int64_t id = IdAt(ids, i);
    if (id >= 0) Join<F>(to + id * results.row, from + i * results.row, results.row);
  }
}

Status UnsortedSegments(KernelContext& ctx, void (*join)(const Tensor&, const Tensor&, const Results&)) {
  const Tensor& data = ctx.input(0);
  const Tensor& ids = ctx.input(1);
  TF_ASSIGN_OR_RETURN(const int64_t segments, CheckUnsorted(data, ids, ctx.input(2)));
  if (const int64_t i = FirstOutside(ids, segments); i >= 0) return OutOfSegments(ids, i, segments);
  Results results;
  TF_RETURN_IF_ERROR(results.Allocate(ctx, segments, data.shape(), ids.shape().rank()));
  join(data, ids, results);
  results.Finish();
  return OkStatus();
}

template <typename F, typename T>
Status UnsortedSegmentKernel(KernelContext& ctx) {
  return UnsortedSegments(ctx, JoinUnsorted<F, LoopType<F, T>>);
}

// Checks data and ids, and returns the number of segments: the third input if there is one, otherwise the last id + 1.
StatusOr<int64_t> CheckSorted(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Tensor& ids = ctx.input(1);
  if (ids.shape().rank() != 1) return InvalidArgument("segment_ids must be a vector, got shape ", ids.shape());
  const int64_t rows = ids.num_elements();
  if (data.shape().rank() < 1 || data.shape().dim(0) != rows) {
    return InvalidArgument("segment_ids should be the same size as the first dimension of data: got ", ids.shape(),
                           " for ", data.shape());
  }
  const bool limited = ctx.num_inputs() > 2;
  TF_ASSIGN_OR_RETURN(const int64_t segments, limited ? NumSegments(ctx.input(2)) : SegmentsOf(ids));
  TF_RETURN_IF_ERROR(CheckSegmentIds(ids, segments, limited));
  return segments;
}

// Ids are non-decreasing, so rows with the same id are adjacent.
template <typename F, typename T>
void JoinSorted(const Tensor& data, const Tensor& ids, const Results& results) {
  using A = ComputeType<T>;
  const int64_t rows = ids.num_elements();
  const int64_t row = results.row;
  const T* from = static_cast<const T*>(data.raw_data());
  A* const to = static_cast<A*>(results.data);
  int64_t done = 0;  // number of segments filled so far
  for (int64_t i = 0; i < rows;) {
    const int64_t id = IdAt(ids, i);
    std::fill(to + done * row, to + id * row, F::template Gap<A>());
    A* sum = to + id * row;
    for (int64_t j = 0; j < row; ++j) sum[j] = static_cast<A>(from[i * row + j]);
    int64_t count = 1;
    for (++i; i < rows && IdAt(ids, i) == id; ++i, ++count) Join<F>(sum, from + i * row, row);
    if constexpr (requires { F::kDivides; }) {
      for (int64_t j = 0; j < row; ++j) sum[j] = static_cast<A>(sum[j] / static_cast<A>(count));
    }
    done = id + 1;
  }
  std::fill(to + done * row, to + results.size, F::template Gap<A>());
}

Status SortedSegments(KernelContext& ctx, void (*join)(const Tensor&, const Tensor&, const Results&)) {
  TF_ASSIGN_OR_RETURN(const int64_t segments, CheckSorted(ctx));
  Results results;
  TF_RETURN_IF_ERROR(results.Allocate(ctx, segments, ctx.input(0).shape(), /*skipped=*/1));
  join(ctx.input(0), ctx.input(1), results);
  results.Finish();
  return OkStatus();
}

template <typename F, typename T>
Status SegmentKernel(KernelContext& ctx) {
  return SortedSegments(ctx, JoinSorted<F, LoopType<F, T>>);
}

template <typename F, typename... T>
void AddUnsorted(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, UnsortedSegmentKernel<F, T>, ElementCost<1000>), ...);
}
template <typename F, typename... T>
void AddSorted(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, SegmentKernel<F, T>, ElementCost<1000>), ...);
}

}  // namespace

void RegisterReductionSegmentKernels(KernelRegistry& r) {
  const NumberTypes numbers;
  const RealTypes reals;
  AddUnsorted<SumS>(r, "UnsortedSegmentSum", numbers);
  AddUnsorted<ProdS>(r, "UnsortedSegmentProd", numbers);
  AddUnsorted<MaxS>(r, "UnsortedSegmentMax", reals);
  AddUnsorted<MinS>(r, "UnsortedSegmentMin", reals);
  AddSorted<MeanS>(r, "SegmentMean", numbers);
  for (const char* suffix : {"", "V2"}) {
    const auto named = [suffix](const char* op) { return std::string(op) + suffix; };
    AddSorted<SumS>(r, named("SegmentSum").c_str(), numbers);
    AddSorted<ProdS>(r, named("SegmentProd").c_str(), numbers);
    AddSorted<MaxS>(r, named("SegmentMax").c_str(), reals);
    AddSorted<MinS>(r, named("SegmentMin").c_str(), reals);
  }
}

}  // namespace tensorbraid::cpu
