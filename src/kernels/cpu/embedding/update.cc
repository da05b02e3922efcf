#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterEmbeddingUpdateKernels(KernelRegistry& /*r*/) {}

}  // namespace tensorbraid::cpu
