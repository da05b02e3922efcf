// Reductions over axes. The axes of a tensor form groups that are alternately kept and reduced. Each pass views the
// tensor as [outer, reduced, inner] and reduces the last reduced group. The way work is split depends only on shapes,
// so results do not depend on the number of threads.
//
// A reducer R is a struct with `template <typename A> static constexpr A Identity()` and `static A Join(A a, A b)`.
// With `kDivides`, the result is divided by the number of reduced elements (a mean). 16-bit floats are reduced in
// float32.
#ifndef TENSORBRAID_KERNELS_CPU_REDUCTION_REDUCTION_H_
#define TENSORBRAID_KERNELS_CPU_REDUCTION_REDUCTION_H_

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cpu/elementwise.h"

namespace tensorbraid::cpu {

struct SumR {
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

// Reduces columns [begin, end) of in[reduced, inner] into out[inner].
template <typename R, typename T>
void ReduceColumns(const T* in, int64_t reduced, int64_t inner, int64_t begin, int64_t end, ComputeType<T>* out) {
  std::fill(out + begin, out + end, R::template Identity<ComputeType<T>>());
  for (int64_t r = 0; r < reduced; ++r) {
    const T* row = in + r * inner;
#pragma GCC ivdep
    for (int64_t j = begin; j < end; ++j) out[j] = R::Join(out[j], Load(row[j]));
  }
}

// Reduces in[outer, reduced, inner] to out[outer, inner].
template <typename R, typename T>
void ReducePass(KernelContext& ctx, const T* in, int64_t outer, int64_t reduced, int64_t inner, ComputeType<T>* out) {
  using A = ComputeType<T>;
  constexpr double kCostNs = 0.3;
  constexpr int64_t kPiece = 1 << 16;  // elements
  const int64_t results = outer * inner;
  // There are few results and much input: split the reduced dimension into pieces and reduce each piece first.
  if (outer < 8 && inner < kPiece / 8 && reduced * inner >= 2 * kPiece) {
    const int64_t rows = std::max<int64_t>(1, kPiece / inner);
    const int64_t pieces = (reduced + rows - 1) / rows;
    std::vector<std::conditional_t<std::is_same_v<A, bool>, uint8_t, A>> parts(outer * pieces * inner);
    A* part = reinterpret_cast<A*>(parts.data());
    Parallel(ctx, outer * pieces, kCostNs * rows * inner, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t from = i % pieces * rows;
        const int64_t n = std::min(rows, reduced - from);
        const T* at = in + (i / pieces * reduced + from) * inner;
        if (inner == 1) {
          part[i] = ReduceRow<R>(at, n);
        } else {
          ReduceColumns<R>(at, n, inner, 0, inner, part + i * inner);
        }
      }
    });
    ReducePass<R, A>(ctx, part, outer, pieces, inner, out);
    return;
  }
  if (inner == 1) {
    Parallel(ctx, outer, 2 + kCostNs * reduced, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) out[o] = ReduceRow<R>(in + o * reduced, reduced);
    });
    return;
  }
  // Split the results into ranges; a range may begin and end within a row of `inner`.
  Parallel(ctx, results, kCostNs * reduced, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      const int64_t o = at / inner;
      const int64_t stop = std::min(end, (o + 1) * inner);
      ReduceColumns<R>(in + o * reduced * inner, reduced, inner, at - o * inner, stop - o * inner, out + o * inner);
      at = stop;
    }
  });
}

// Sizes of the groups of axes: kept groups at even positions, reduced groups at odd positions.
struct Groups {
  std::vector<int64_t> sizes;
  Shape shape;           // of the result
  bool identity = true;  // every reduced axis has size 1
};

// Returns InvalidArgument if an axis is not an axis of the shape.
StatusOr<Groups> GroupAxes(const Shape& shape, const Tensor& axes, bool keep_dims);

// Reduces the reduced groups one after the other, the last one first, into `out`. REQUIRES: `in` is not empty.
template <typename R, typename T>
void ReduceGroups(KernelContext& ctx, const T* in, std::vector<int64_t> sizes, ComputeType<T>* out) {
  using A = ComputeType<T>;
  int64_t inner = 1;
  if (sizes.size() % 2 == 1) {
    inner = sizes.back();
    sizes.pop_back();
  }
  const int64_t reduced = sizes.back();
  sizes.pop_back();
  int64_t outer = 1;
  for (int64_t s : sizes) outer *= s;
  if (sizes.size() == 1) {
    ReducePass<R>(ctx, in, outer, reduced, inner, out);
    return;
  }
  std::vector<std::conditional_t<std::is_same_v<A, bool>, uint8_t, A>> parts(outer * inner);
  A* part = reinterpret_cast<A*>(parts.data());
  ReducePass<R>(ctx, in, outer, reduced, inner, part);
  sizes.back() *= inner;
  ReduceGroups<R, A>(ctx, part, std::move(sizes), out);
}

template <typename R, typename T>
class ReductionKernel final : public Kernel {
 public:
  explicit ReductionKernel(const KernelConstruction& c) : keep_dims_(c.attr<bool>("keep_dims")) {}

  Status Compute(KernelContext& ctx) override {
    using A = ComputeType<T>;
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(Groups g, GroupAxes(in.shape(), ctx.input(1), keep_dims_));
    if (g.identity) {
      TF_ASSIGN_OR_RETURN(Tensor same, in.Reshaped(g.shape));
      ctx.set_output(0, std::move(same));
      return OkStatus();
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, g.shape));
    const std::span<T> results = out->mutable_data<T>();
    if (results.empty()) return OkStatus();
    const T* from = in.data<T>().data();
    std::vector<float> wide(kIsHalf<T> ? results.size() : 0);
    A* to;
    if constexpr (kIsHalf<T>) {
      to = wide.data();
    } else {
      to = results.data();
    }
    if (in.num_elements() == 0) {
      std::fill(to, to + results.size(), R::template Identity<A>());
    } else {
      ReduceGroups<R>(ctx, from, std::move(g.sizes), to);
    }
    if constexpr (requires { R::kDivides; }) Divide(to, results.size(), in.num_elements());
    if constexpr (kIsHalf<T>) FromFloat(to, results.data(), results.size());
    return OkStatus();
  }

 private:
  template <typename A>
  static void Divide(A* sums, int64_t results, int64_t elements) {
    const int64_t count = elements / results;
    if constexpr (std::is_integral_v<A>) {
      for (int64_t i = 0; i < results && count > 0; ++i) sums[i] = static_cast<A>(sums[i] / static_cast<A>(count));
    } else {
      for (int64_t i = 0; i < results; ++i) sums[i] /= static_cast<A>(count);
    }
  }

  const bool keep_dims_;
};

template <typename R, typename... T>
void AddReduction(KernelRegistry& r, const char* op, Types<T...>,
                  std::source_location location = std::source_location::current()) {
  (r.Add<ReductionKernel<R, T>>(op, {{"T", {DTypeOf<T>::value}}}, ReductionCost, location), ...);
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_REDUCTION_REDUCTION_H_
