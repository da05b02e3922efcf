// The list of the kernels of linear algebra.
#include "kernels/cpu/linalg.h"

#include "kernels/cpu/families.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterLinalgKernels(KernelRegistry& r) {
  using namespace cpu;  // NOLINT: the family's own
  RegisterDecompositionKernels(r);
  RegisterEigenKernels(r);
  RegisterSvdKernels(r);
  RegisterComplexSvdKernels(r);
  RegisterSolveKernels(r);
  RegisterBandedKernels(r);
  RegisterMatrixFunctionKernels(r);
  RegisterDiagonalKernels(r);
  RegisterFourierKernels(r);
  RegisterEinsumKernels(r);
}

}  // namespace tensorbraid
