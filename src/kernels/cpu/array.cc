#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterArrayKernels(KernelRegistry& r) {}

}  // namespace tensorbraid
