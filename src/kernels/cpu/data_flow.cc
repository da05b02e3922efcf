#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterDataFlowKernels(KernelRegistry& r) {}

}  // namespace tensorbraid
