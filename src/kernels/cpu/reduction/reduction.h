// Reductions over axes. The axes of a tensor form groups that are alternately kept and reduced. Each pass views the
// tensor as [outer, reduced, inner] and reduces the last reduced group. The way work is split depends only on shapes,
// so results do not depend on the number of threads.
//
// A reducer R is a struct with `template <typename A> static constexpr A Identity()` and `static A Join(A a, A b)`.
// If it has `kDivides`, the result is divided by the number of reduced elements (a mean). If it has `kWraps`, integers
// wrap around, so that signed and unsigned integers of one size give the same bits and share a loop. 16-bit floats are
// reduced in float32.
//
// Only the loops over elements are compiled for each reducer and type (ReduceLoops).
#ifndef TENSORBRAID_KERNELS_CPU_REDUCTION_REDUCTION_H_
#define TENSORBRAID_KERNELS_CPU_REDUCTION_REDUCTION_H_

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cpu/elementwise.h"

namespace tensorbraid::cpu {

struct SumR {
  static constexpr bool kWraps = true;
  template <typename A>
  static constexpr A Identity() {
    return A(0);
  }
  template <typename A>
  static A Join(A a, A b) {
    return static_cast<A>(Wrapping<A>(a) + Wrapping<A>(b));
  }
};
struct MeanR : SumR {
  static constexpr bool kDivides = true;
};
template <typename T>
ComputeType<T> Load(T v) {
  return static_cast<ComputeType<T>>(v);
}

// Reduces n adjacent elements to one value. Many accumulators allow vector code and keep rounding errors small.
template <typename R, typename T>
ComputeType<T> ReduceRow(const T* in, int64_t n) {
  using A = ComputeType<T>;
  constexpr int kLanes = 32;
  constexpr int64_t kBlock = 2048;
  A total = R::template Identity<A>();
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t m = std::min(kBlock, n - at);
    A lanes[kLanes];
    std::fill(lanes, lanes + kLanes, R::template Identity<A>());
    int64_t i = 0;
    for (; i + kLanes <= m; i += kLanes) {
      for (int l = 0; l < kLanes; ++l) lanes[l] = R::Join(lanes[l], Load(in[at + i + l]));
    }
    for (int l = 0; i < m; ++i, ++l) lanes[l] = R::Join(lanes[l], Load(in[at + i]));
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lanes[l] = R::Join(lanes[l], lanes[l + half]);
    }
    total = R::Join(total, lanes[0]);
  }
  return total;
}

// Reduces each of `rows` rows of n adjacent elements.
template <typename R, typename T>
void ReduceRows(const void* in, int64_t rows, int64_t n, void* out) {
  for (int64_t r = 0; r < rows; ++r) {
    static_cast<ComputeType<T>*>(out)[r] = ReduceRow<R>(static_cast<const T*>(in) + r * n, n);
  }
}

// Reduces columns [begin, end) of in[reduced, inner] into out[inner].
template <typename R, typename T>
void ReduceColumns(const void* in, int64_t reduced, int64_t inner, int64_t begin, int64_t end, void* to) {
  ComputeType<T>* const out = static_cast<ComputeType<T>*>(to);
  std::fill(out + begin, out + end, R::template Identity<ComputeType<T>>());
  for (int64_t r = 0; r < reduced; ++r) {
    const T* row = static_cast<const T*>(in) + r * inner;
#pragma GCC ivdep
    for (int64_t j = begin; j < end; ++j) out[j] = R::Join(out[j], Load(row[j]));
  }
}

// The loops of a reducer over elements of one type.
struct ReduceLoops {
  void (*rows)(const void* in, int64_t rows, int64_t n, void* out);
  void (*columns)(const void* in, int64_t reduced, int64_t inner, int64_t begin, int64_t end, void* out);
  int64_t in_size;  // bytes per element
  int64_t out_size;
};
template <typename R, typename T>
inline constexpr ReduceLoops kReduceLoops = {ReduceRows<R, T>, ReduceColumns<R, T>, sizeof(T), sizeof(ComputeType<T>)};

// A reducer of elements of one type.
struct Reducer {
  const ReduceLoops* first;  // for the first pass, over the input
  const ReduceLoops* later;  // for later passes, over the results of the pass before
  void (*divide)(void* sums, int64_t results, int64_t elements) = nullptr;
};

template <typename A>
void DivideSums(void* all, int64_t results, int64_t elements) {
  A* const sums = static_cast<A*>(all);
  const int64_t count = elements / results;
  if constexpr (std::is_integral_v<A>) {
    for (int64_t i = 0; i < results && count > 0; ++i) sums[i] = static_cast<A>(sums[i] / static_cast<A>(count));
  } else {
    for (int64_t i = 0; i < results; ++i) sums[i] /= static_cast<A>(count);
  }
}

// The type for which the loops are compiled: T, or the unsigned type of the same size if R gives the same bits for
// both.
template <typename R, typename T>
auto LoopTypeOf() {
  if constexpr (std::is_integral_v<T> && requires { R::kWraps; }) {
    return std::make_unsigned_t<T>{};
  } else {
    return T{};
  }
}

template <typename R, typename T>
constexpr Reducer MakeReducer() {
  using L = decltype(LoopTypeOf<R, T>());
  Reducer reducer{&kReduceLoops<R, L>, &kReduceLoops<R, ComputeType<L>>};
  if constexpr (requires { R::kDivides; }) reducer.divide = DivideSums<ComputeType<T>>;
  return reducer;
}

// Sizes of the groups of axes: kept groups at even positions, reduced groups at odd positions.
struct Groups {
  std::vector<int64_t> sizes;
  Shape shape;           // of the result
  bool identity = true;  // every reduced axis has size 1
};

// Returns InvalidArgument if `axes` has an element that is not an axis of the shape, or the same axis twice.
StatusOr<Groups> GroupAxes(const Shape& shape, const Tensor& axes, bool keep_dims);

// Reduces the reduced groups one after the other, the last one first, into `out`. REQUIRES: `in` is not empty.
void ReduceGroups(KernelContext& ctx, const Reducer& reducer, const void* in, std::vector<int64_t> sizes, void* out);

class ReductionKernel : public Kernel {
 public:
  Status Compute(KernelContext& ctx) final;

 protected:
  ReductionKernel(const KernelConstruction& c, const Reducer& reducer)
      : reducer_(reducer), keep_dims_(c.attr<bool>("keep_dims")) {}

 private:
  const Reducer reducer_;
  const bool keep_dims_;
};

template <typename R, typename T>
class ReductionKernelOf final : public ReductionKernel {
 public:
  explicit ReductionKernelOf(const KernelConstruction& c) : ReductionKernel(c, MakeReducer<R, T>()) {}
};

template <typename R, typename... T>
void AddReduction(KernelRegistry& r, const char* op, Types<T...>,
                  std::source_location location = std::source_location::current()) {
  (r.Add<ReductionKernelOf<R, T>>(op, {{"T", {DTypeOf<T>::value}}}, ReductionCost, location), ...);
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_REDUCTION_REDUCTION_H_
