// Data flow: how steps and replicas hand tensors to each other, and what splits and joins them by index.
#include "ops/data_flow_families.h"
#include "ops/register.h"

namespace tensorbraid {

void RegisterDataFlowOps(OpRegistry& r) {
  RegisterQueueOps(r);
  RegisterPartitionOps(r);
  RegisterLookupOps(r);
  RegisterAccumulatorOps(r);
  RegisterBarrierOps(r);
  RegisterStagingOps(r);
  RegisterSessionTensorOps(r);
  RegisterMutexOps(r);
}

}  // namespace tensorbraid
