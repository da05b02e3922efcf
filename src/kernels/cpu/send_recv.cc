#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterSendRecvKernels(KernelRegistry& r) {}

}  // namespace tensorbraid
