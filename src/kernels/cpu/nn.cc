#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterNnKernels(KernelRegistry& r) {}

}  // namespace tensorbraid
