// Sums of complex numbers, and Euclidean norms over axes.
#include <cmath>

#include "kernels/cpu/families.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/reduction.h"

namespace tensorbraid::cpu {
namespace {

// sqrt(sum |x|^2).
template <typename T>
class NormKernel final : public Kernel {
 public:
  explicit NormKernel(const KernelConstruction& c) : keep_dims_(c.attr<bool>("keep_dims")) {}

  Status Compute(KernelContext& ctx) override {
    using A = cpu::Compute<T>;
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
  (r.Add<NormKernel<T>>("EuclideanNorm", {{"T", {DTypeOf<T>::value}}}), ...);
}

}  // namespace

void RegisterNormKernels(KernelRegistry& r) {
  AddReduction<SumR>(r, "Sum", ComplexTypes{});
  AddReduction<MeanR>(r, "Mean", ComplexTypes{});
  AddNorm(r, NumberTypes{});
}

}  // namespace tensorbraid::cpu
