// Singular values of real matrices.
#include "kernels/cpu/linalg_svd.h"

#include "kernels/cpu/families.h"

namespace tensorbraid::cpu {

void RegisterSvdKernels(KernelRegistry& r) { AddLinalg<SvdKernel>(r, "Svd", Types<float, double>{}); }

}  // namespace tensorbraid::cpu
