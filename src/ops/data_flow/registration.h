// Declares the functions that register the data flow ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_DATA_FLOW_REGISTRATION_H_
#define TENSORBRAID_OPS_DATA_FLOW_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterDataFlowAccumulatorOps(OpRegistry& r);       // accumulator.cc
void RegisterDataFlowBarrierOps(OpRegistry& r);           // barrier.cc
void RegisterDataFlowDynamicPartitionOps(OpRegistry& r);  // dynamic_partition.cc
void RegisterDataFlowLookupOps(OpRegistry& r);            // lookup.cc
void RegisterDataFlowMutexOps(OpRegistry& r);             // mutex.cc
void RegisterDataFlowQueueOps(OpRegistry& r);             // queue.cc
void RegisterDataFlowSessionTensorOps(OpRegistry& r);     // session_tensor.cc
void RegisterDataFlowStagingOps(OpRegistry& r);           // staging.cc
void RegisterDataFlowTensorArrayOps(OpRegistry& r);       // tensor_array.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_DATA_FLOW_REGISTRATION_H_
