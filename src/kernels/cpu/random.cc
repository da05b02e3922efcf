#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterRandomKernels(KernelRegistry& r) {}

}  // namespace tensorbraid
