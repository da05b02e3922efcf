#include "kernels/cpu/data_flow_families.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {

void RegisterDataFlowKernels(KernelRegistry& r) {
  cpu::RegisterQueueKernels(r);
  cpu::RegisterPartitionKernels(r);
  cpu::RegisterLookupKernels(r);
  cpu::RegisterAccumulatorKernels(r);
  cpu::RegisterBarrierKernels(r);
  cpu::RegisterStagingKernels(r);
  cpu::RegisterSessionTensorKernels(r);
  cpu::RegisterMutexKernels(r);
}

}  // namespace tensorbraid
