// Reductions over axes, and shared code of all reductions.
#include "kernels/cpu/reduction/reduction.h"

#include <cmath>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/reduction/parts.h"

namespace tensorbraid::cpu {
namespace {

StatusOr<std::vector<bool>> ReducedAxes(const Tensor& axes, int rank) {
  std::vector<bool> reduced(rank, false);
  if (axes.shape().rank() > 1) return InvalidArgument("axes must be a scalar or a vector, got shape ", axes.shape());
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const int64_t axis = axes.dtype() == kInt64 ? axes.data<int64_t>()[i] : axes.data<int32_t>()[i];
    if (axis < -rank || axis >= rank) {
      return InvalidArgument("axis ", axis, " is not in [", -rank, ", ", rank, ")");
    }
    const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (reduced[at]) return InvalidArgument("axis ", at, " is given twice");
    reduced[at] = true;
  }
  return reduced;
}

// The mean of integers of 32 bits or less. Their sum may need 64 bits.
template <typename T>
class IntegerMeanKernel final : public Kernel {
 public:
  explicit IntegerMeanKernel(const KernelConstruction& c) : keep_dims_(c.attr<bool>("keep_dims")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(Groups g, GroupAxes(in.shape(), ctx.input(1), keep_dims_));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, g.shape));
    TF_ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemp(kInt64, in.shape()));
    TF_ASSIGN_OR_RETURN(Tensor sums, ctx.AllocateTemp(kInt64, g.shape));
    const auto from = in.data<T>();
    const auto values = wide.mutable_data<int64_t>();
    std::copy(from.begin(), from.end(), values.begin());
    const auto totals = sums.mutable_data<int64_t>();
    const auto results = out->mutable_data<T>();
    if (results.empty()) return OkStatus();
    if (values.empty() || g.identity) {
      for (size_t i = 0; i < results.size(); ++i) results[i] = values.empty() ? T(0) : from[i];
      return OkStatus();
    }
    ReduceGroups<SumR, int64_t>(ctx, values.data(), std::move(g.sizes), totals.data());
    const int64_t count = static_cast<int64_t>(values.size() / results.size());
    for (size_t i = 0; i < results.size(); ++i) results[i] = static_cast<T>(totals[i] / count);
    return OkStatus();
  }

 private:
  const bool keep_dims_;
};

template <typename... T>
void AddIntegerMean(KernelRegistry& r, Types<T...>) {
  (r.Add<IntegerMeanKernel<T>>("Mean", {{"T", {DTypeOf<T>::value}}}, ReductionCost), ...);
}

}  // namespace

StatusOr<Groups> GroupAxes(const Shape& shape, const Tensor& axes, bool keep_dims) {
  TF_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(axes, shape.rank()));
  Groups g;
  g.sizes.push_back(1);
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t size = shape.dim(i);
    if (!reduced[i]) {
      g.shape.AddDim(size);
    } else if (keep_dims) {
      g.shape.AddDim(1);
    }
    if (size == 1) continue;
    if (reduced[i]) g.identity = false;
    const bool last_is_reduced = g.sizes.size() % 2 == 0;
    if (reduced[i] == last_is_reduced) {
      g.sizes.back() *= size;
    } else {
      g.sizes.push_back(size);
    }
  }
  return g;
}

namespace {

struct ProdR {
  template <typename A>
  static constexpr A Identity() {
    return A(1);
  }
  template <typename A>
  static A Join(A a, A b) {
    return static_cast<A>(Wrapping<A>(a) * Wrapping<A>(b));
  }
};

struct AllR {
  template <typename A>
  static constexpr A Identity() {
    return true;
  }
  static bool Join(bool a, bool b) { return a & b; }
};

struct AnyR {
  template <typename A>
  static constexpr A Identity() {
    return false;
  }
  static bool Join(bool a, bool b) { return a | b; }
};

struct MaxR {
  template <typename A>
  static constexpr A Identity() {
    return std::numeric_limits<A>::has_infinity ? -std::numeric_limits<A>::infinity()
                                                : std::numeric_limits<A>::lowest();
  }
  template <typename A>
  static A Join(A a, A b) {
    return (a > b || a != a) ? a : b;  // NaN if either operand is NaN
  }
};

struct MinR {
  template <typename A>
  static constexpr A Identity() {
    return std::numeric_limits<A>::has_infinity ? std::numeric_limits<A>::infinity() : std::numeric_limits<A>::max();
  }
  template <typename A>
  static A Join(A a, A b) {
    return (a < b || a != a) ? a : b;
  }
};

// sqrt(sum |x|^2).
template <typename T>
class NormKernel final : public Kernel {
 public:
  explicit NormKernel(const KernelConstruction& c) : keep_dims_(c.attr<bool>("keep_dims")) {}

  Status Compute(KernelContext& ctx) override {
    using A = ComputeType<T>;
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(Groups g, GroupAxes(in.shape(), ctx.input(1), keep_dims_));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, g.shape));
    const std::span<T> results = out->mutable_data<T>();
    if (results.empty()) return OkStatus();
    TF_ASSIGN_OR_RETURN(Tensor square_tensor, ctx.AllocateTemp(DTypeOf<A>::value, in.shape()));
    const std::span<A> squares = square_tensor.template mutable_data<A>();
    const T* from = in.data<T>().data();
    Parallel(ctx, in.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const A v = static_cast<A>(from[i]);
        squares[i] = MulF::Apply(v, Conjugate(v));
      }
    });
    TF_ASSIGN_OR_RETURN(Tensor sum_tensor, ctx.AllocateTemp(DTypeOf<A>::value, g.shape));
    const std::span<A> sums = sum_tensor.template mutable_data<A>();
    std::fill(sums.begin(), sums.end(), A(0));
    if (!g.identity && !squares.empty()) {
      ReduceGroups<SumR>(ctx, static_cast<const A*>(squares.data()), std::move(g.sizes), sums.data());
    }
    const std::span<A> of = g.identity ? squares : sums;
    for (size_t i = 0; i < results.size(); ++i) {
      if constexpr (std::is_integral_v<A>) {
        results[i] = static_cast<T>(std::sqrt(static_cast<double>(of[i])));
      } else {
        results[i] = static_cast<T>(std::sqrt(of[i]));
      }
    }
    return OkStatus();
  }

 private:
  const bool keep_dims_;
};

template <typename... T>
void AddNorm(KernelRegistry& r, Types<T...>) {
  (r.Add<NormKernel<T>>("EuclideanNorm", {{"T", {DTypeOf<T>::value}}}, ReductionCost), ...);
}

}  // namespace

void RegisterReductionKernels(KernelRegistry& r) {
  AddReduction<SumR>(r, "Sum", RealTypes{});
  AddReduction<MeanR>(r, "Mean", FloatTypes{} + Types<int64_t, uint64_t>{});
  AddIntegerMean(r, Types<int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t>{});
  AddReduction<ProdR>(r, "Prod", NumberTypes{});
  r.Add<ReductionKernel<AllR, bool>>("All", {}, ReductionCost);
  r.Add<ReductionKernel<AnyR, bool>>("Any", {}, ReductionCost);
  AddReduction<MaxR>(r, "Max", RealTypes{});
  AddReduction<MinR>(r, "Min", RealTypes{});
  AddReduction<SumR>(r, "Sum", ComplexTypes{});
  AddReduction<MeanR>(r, "Mean", ComplexTypes{});
  AddNorm(r, NumberTypes{});
}

}  // namespace tensorbraid::cpu
