// Arithmetic of two operands.
#include "kernels/cpu/families.h"
#include "kernels/cpu/functors.h"

namespace tensorbraid::cpu {

void RegisterBinaryKernels(KernelRegistry& r) {
  AddBinary<AddF>(r, "Add", RealTypes{} + Types<std::string>{});
  AddBinary<AddF>(r, "AddV2", RealTypes{});
  AddBinary<SubF>(r, "Sub", RealTypes{});
  AddBinary<MulF>(r, "Mul", RealTypes{});
  AddBinary<SquaredDifferenceF>(r, "SquaredDifference", RealTypes{});
  AddBinary<DivF>(r, "Div", RealTypes{});
  AddBinary<DivF>(r, "RealDiv", FloatTypes{});
  AddBinary<DivF>(r, "TruncateDiv", IntTypes{});
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
