// The data flow family is large; its parts, in the order in which RegisterDataFlowOps adds them.
#ifndef TENSORBRAID_OPS_DATA_FLOW_FAMILIES_H_
#define TENSORBRAID_OPS_DATA_FLOW_FAMILIES_H_

#include "graph/op_registry.h"

namespace tensorbraid {

void RegisterQueueOps(OpRegistry& r);          // queue.cc: queues of tuples
void RegisterPartitionOps(OpRegistry& r);      // dynamic_partition.cc: rows split by number and joined again
void RegisterLookupOps(OpRegistry& r);         // lookup.cc: tables from keys to values
void RegisterAccumulatorOps(OpRegistry& r);    // accumulator.cc: conditional accumulators, dense and sparse
void RegisterBarrierOps(OpRegistry& r);        // barrier.cc: tuples put together component by component
void RegisterStagingOps(OpRegistry& r);        // staging.cc: areas and maps without handles
void RegisterSessionTensorOps(OpRegistry& r);  // session_tensor.cc: tensors kept between steps
void RegisterMutexOps(OpRegistry& r);          // mutex.cc: critical sections

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_DATA_FLOW_FAMILIES_H_
