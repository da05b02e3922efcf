#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterStateKernels(KernelRegistry& r) {}

}  // namespace tensorbraid
