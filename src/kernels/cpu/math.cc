#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterMathKernels(KernelRegistry& r) {}

}  // namespace tensorbraid
