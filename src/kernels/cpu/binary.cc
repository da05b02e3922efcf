// Arithmetic of two operands.
#include <cmath>

#include "kernels/cpu/families.h"
#include "kernels/cpu/functors.h"

namespace tensorbraid::cpu {
namespace {

// TensorFlow calls a division by zero an internal error when it truncates, an invalid argument when it does not.
template <typename F, typename T>
Status TruncatingKernel(KernelContext& ctx) {
  const Status status = BinaryKernel<F, T>(ctx);
  return status.message() == F::kRefusal ? Internal(status.message()) : status;
}

// Of floats; those of integers truncate by themselves.
struct TruncateDivF {
  static constexpr double kCostNs = 1;
  template <typename T>
  static T Apply(T a, T b) {
    return std::trunc(a / b);
  }
};

template <typename F, typename... T>
void AddTruncating(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, TruncatingKernel<F, T>), ...);
}

}  // namespace

void RegisterBinaryKernels(KernelRegistry& r) {
  AddBinary<AddF>(r, "Add", RealTypes{} + Types<std::string>{});
  AddBinary<AddF>(r, "AddV2", RealTypes{});
  AddBinary<SubF>(r, "Sub", RealTypes{});
  AddBinary<MulF>(r, "Mul", RealTypes{});
  AddBinary<SquaredDifferenceF>(r, "SquaredDifference", RealTypes{});
  AddBinary<DivF>(r, "Div", RealTypes{});
  AddBinary<DivF>(r, "RealDiv", FloatTypes{});
  AddTruncating<DivF>(r, "TruncateDiv", IntTypes{});
  AddBinary<TruncateDivF>(r, "TruncateDiv", FloatTypes{});
  AddTruncating<ModF>(r, "TruncateMod", Types<int32_t, int64_t>{});
  AddBinary<ModF>(r, "TruncateMod", FloatTypes{});
  AddBinary<DivNoNanF>(r, "DivNoNan", FloatTypes{});
  AddBinary<FloorDivF>(r, "FloorDiv", RealTypes{});
  AddBinary<FloorModF>(r, "FloorMod", RealTypes{});
  AddBinary<ModF>(r, "Mod", RealTypes{});
  AddBinary<PowF>(r, "Pow", RealTypes{});
  AddBinary<MaximumF>(r, "Maximum", RealTypes{});
  AddBinary<MinimumF>(r, "Minimum", RealTypes{});
  AddSameShape<TanhGradF>(r, "TanhGrad", FloatTypes{});
  AddSameShape<SigmoidGradF>(r, "SigmoidGrad", FloatTypes{});
  AddSameShape<ReciprocalGradF>(r, "ReciprocalGrad", FloatTypes{});
  AddSameShape<SqrtGradF>(r, "SqrtGrad", FloatTypes{});
  AddSameShape<RsqrtGradF>(r, "RsqrtGrad", FloatTypes{});
}

}  // namespace tensorbraid::cpu
