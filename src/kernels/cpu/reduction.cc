#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterReductionKernels(KernelRegistry& r) {}

}  // namespace tensorbraid
