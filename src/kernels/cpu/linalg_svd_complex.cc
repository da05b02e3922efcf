// Singular values of complex matrices.
#include "kernels/cpu/families.h"
#include "kernels/cpu/linalg_svd.h"

namespace tensorbraid::cpu {

void RegisterComplexSvdKernels(KernelRegistry& r) { AddLinalg<SvdKernel>(r, "Svd", ComplexTypes{}); }

}  // namespace tensorbraid::cpu
