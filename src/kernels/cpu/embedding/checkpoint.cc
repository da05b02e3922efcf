#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterEmbeddingCheckpointKernels(KernelRegistry& /*r*/) {}

}  // namespace tensorbraid::cpu
