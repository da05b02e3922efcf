// The comparison ops.
#include <cmath>

#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Shapes that do not broadcast are an error. If the attribute incompatible_shape_error is false, the result is instead
// a scalar: kUnequal, the value that the op gives for unequal operands.
template <typename F, typename T, bool kUnequal>
Status EqualityKernel(KernelContext& ctx) {
  if (!BroadcastShapes(ctx.input(0).shape(), ctx.input(1).shape()).ok()) {
    const AttrValue* strict = ctx.node().FindAttr("incompatible_shape_error");
    if (strict != nullptr && strict->get<bool>() != nullptr && !*strict->get<bool>()) {
      ctx.set_output(0, Tensor::Scalar(kUnequal));
      return OkStatus();
    }
  }
  return BinaryKernel<F, T>(ctx);
}

template <typename... T>
void AddEquality(KernelRegistry& r, Types<T...>) {
  (r.Add("Equal", {{"T", DTypesStoredAs<T>()}}, EqualityKernel<EqualF, T, false>), ...);
  (r.Add("NotEqual", {{"T", DTypesStoredAs<T>()}}, EqualityKernel<NotEqualF, T, true>), ...);
}

// |x - y| < tolerance, for operands of the same shape.
template <typename T>
class ApproximateEqualKernel final : public Kernel {
 public:
  explicit ApproximateEqualKernel(const KernelConstruction& c) : tolerance_(c.attr<float>("tolerance")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    const Tensor& y = ctx.input(1);
    if (x.shape() != y.shape()) {
      return InvalidArgument("x and y must have the same shape, got ", x.shape(), " and ", y.shape());
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, x.shape()));
    const T* a = x.data<T>().data();
    const T* b = y.data<T>().data();
    bool* z = out->inplace_data<bool>().data();
    const T tolerance = static_cast<T>(tolerance_);
    Parallel(ctx, x.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) z[i] = std::abs(a[i] - b[i]) < tolerance;
    });
    return OkStatus();
  }

 private:
  const float tolerance_;
};

}  // namespace

void RegisterMathComparisonKernels(KernelRegistry& r) {
  AddEquality(r, NumberTypes{} + Types<bool, std::string>{});
  AddBinary<LessF>(r, "Less", RealTypes{});
  AddBinary<LessEqualF>(r, "LessEqual", RealTypes{});
  AddBinary<GreaterF>(r, "Greater", RealTypes{});
  AddBinary<GreaterEqualF>(r, "GreaterEqual", RealTypes{});
  r.Add<ApproximateEqualKernel<float>>("ApproximateEqual", {{"T", {kFloat32}}});
  r.Add<ApproximateEqualKernel<double>>("ApproximateEqual", {{"T", {kFloat64}}});
}

}  // namespace tensorbraid::cpu
