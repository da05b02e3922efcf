// Activation functions and their gradients.
#include <Eigen/Core>
#include <cmath>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

struct ReluF {
  template <typename T>
  static T Apply(T x) {
    return x < T(0) ? T(0) : x;  // keeps NaNs
  }
};
struct Relu6F {
  template <typename T>
  static T Apply(T x) {
    return x < T(0) ? T(0) : x > T(6) ? T(6) : x;
  }
};
struct EluF {
  template <typename T>
  static T Apply(T x) {
    return x < T(0) ? std::expm1(x) : x;
  }
};
struct SeluF {
  template <typename T>
  static T Apply(T x) {
    return x < T(0) ? T(kSeluScaleAlpha) * std::expm1(x) : T(kSeluScale) * x;
  }
};
struct SoftplusF {
  template <typename T>
  static T Apply(T x) {
    return x > T(0) ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
};
struct SoftsignF {
  template <typename T>
  static T Apply(T x) {
    return x / (T(1) + std::abs(x));
  }
};

template <typename F, typename T>
void Row(const void* in, void* out, int64_t n) {
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = F::Apply(x[i]);
}

// kCostTenthsNs: the cost of an element in tenths of a nanosecond.
template <typename F, typename T, int kCostTenthsNs>
Status ActivationKernel(KernelContext& ctx) {
  constexpr double cost_ns = kCostTenthsNs / 10.0;
  if constexpr (kIsHalf<T>) {
    return RunUnary(ctx, HalfUnaryRow<Row<F, float>, T>, sizeof(T), sizeof(T), cost_ns + 0.5);
  } else {
    return RunUnary(ctx, Row<F, T>, sizeof(T), sizeof(T), cost_ns);
  }
}

template <typename F, int kCostTenthsNs, typename... T>
void AddActivation(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, ActivationKernel<F, T, kCostTenthsNs>, ElementCost<kCostTenthsNs * 100>),
   ...);
}

// x where it is positive and alpha * x elsewhere; or the gradient of this, whose inputs are the gradient of the output,
// and x.
template <typename T, bool kGradient>
class LeakyReluKernel final : public Kernel {
 public:
  explicit LeakyReluKernel(const KernelConstruction& c) : alpha_(c.attr<float>("alpha")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(kGradient ? 1 : 0);
    const Tensor& factor = ctx.input(0);
    if (factor.shape() != x.shape()) {
      return InvalidArgument("inputs must have the same shape, got ", factor.shape(), " and ", x.shape());
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, x.shape()));
    using A = ComputeType<T>;
    const T* px = x.data<T>().data();
    const T* pf = factor.data<T>().data();
    T* po = out->inplace_data<T>().data();
    const A alpha = static_cast<A>(static_cast<T>(alpha_));  // rounded to T first, as in TensorFlow
    Parallel(ctx, x.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) {
        const A f = static_cast<A>(pf[i]);
        po[i] = static_cast<T>(static_cast<A>(px[i]) > A(0) ? f : f * alpha);
      }
    });
    return OkStatus();
  }

 private:
  const float alpha_;
};

template <typename... T>
void AddLeakyRelu(KernelRegistry& r, Types<T...>) {
  (r.Add<LeakyReluKernel<T, false>>("LeakyRelu", {{"T", {DTypeOf<T>::value}}}), ...);
  (r.Add<LeakyReluKernel<T, true>>("LeakyReluGrad", {{"T", {DTypeOf<T>::value}}}), ...);
}

}  // namespace

void RegisterNnActivationKernels(KernelRegistry& r) {
  AddActivation<ReluF, 3>(r, "Relu", RealTypes{});
  AddActivation<Relu6F, 3>(r, "Relu6", RealTypes{});
  AddActivation<EluF, 80>(r, "Elu", FloatTypes{});
  AddActivation<SeluF, 80>(r, "Selu", FloatTypes{});
  AddActivation<SoftplusF, 150>(r, "Softplus", FloatTypes{});
  AddActivation<SoftsignF, 5>(r, "Softsign", FloatTypes{});
  AddSameShape<ReluGradF>(r, "ReluGrad", RealTypes{});
  AddSameShape<Relu6GradF>(r, "Relu6Grad", RealTypes{});
  AddSameShape<EluGradF>(r, "EluGrad", FloatTypes{});
  AddSameShape<SeluGradF>(r, "SeluGrad", FloatTypes{});
  AddSameShape<SoftplusGradF>(r, "SoftplusGrad", FloatTypes{});
  AddSameShape<SoftsignGradF>(r, "SoftsignGrad", FloatTypes{});
  AddLeakyRelu(r, FloatTypes{});
}

}  // namespace tensorbraid::cpu
