// Comparisons and logic.
#include "kernels/cpu/families.h"
#include "kernels/cpu/functors.h"

namespace tensorbraid::cpu {
namespace {

// Shapes that do not fit give one `true` or `false` for the whole instead of an error, when the node asks for that.
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

void NotRow(const void* in, void* out, int64_t n) {
  const bool* a = static_cast<const bool*>(in);
  bool* o = static_cast<bool*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = !a[i];
}

}  // namespace

void RegisterComparisonKernels(KernelRegistry& r) {
  AddEquality(r, NumberTypes{} + Types<bool, std::string>{});
  AddBinary<LessF>(r, "Less", RealTypes{});
  AddBinary<LessEqualF>(r, "LessEqual", RealTypes{});
  AddBinary<GreaterF>(r, "Greater", RealTypes{});
  AddBinary<GreaterEqualF>(r, "GreaterEqual", RealTypes{});
  r.Add("LogicalAnd", {}, BinaryKernel<AndF, bool>);
  r.Add("LogicalOr", {}, BinaryKernel<OrF, bool>);
  r.Add("LogicalNot", {}, [](KernelContext& ctx) { return RunUnary(ctx, NotRow, 1, 1, 0.1); });
}

}  // namespace tensorbraid::cpu
