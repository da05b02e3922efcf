#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterTrainingKernels(KernelRegistry& r) {}

}  // namespace tensorbraid
