// The explicit list of op families. Each has a file here (schemas, shape rules, gradients) and one of the same name in
// kernels/cpu.
#ifndef TENSORBRAID_OPS_REGISTER_H_
#define TENSORBRAID_OPS_REGISTER_H_

#include "graph/op_registry.h"

namespace tensorbraid {

void RegisterArrayOps(OpRegistry& r);
void RegisterCheckpointOps(OpRegistry& r);
void RegisterControlFlowOps(OpRegistry& r);
void RegisterCrossOps(OpRegistry& r);
void RegisterDataFlowOps(OpRegistry& r);
void RegisterLinalgOps(OpRegistry& r);
void RegisterFileOps(OpRegistry& r);
void RegisterDatasetOps(OpRegistry& r);
void RegisterFunctionalOps(OpRegistry& r);
void RegisterIteratorOps(OpRegistry& r);
void RegisterLoggingOps(OpRegistry& r);
void RegisterMathOps(OpRegistry& r);
void RegisterNnOps(OpRegistry& r);
void RegisterParsingOps(OpRegistry& r);
void RegisterRaggedOps(OpRegistry& r);
void RegisterRandomOps(OpRegistry& r);
void RegisterReductionOps(OpRegistry& r);
void RegisterSendRecvOps(OpRegistry& r);
void RegisterSetOps(OpRegistry& r);
void RegisterSparseOps(OpRegistry& r);
void RegisterStateOps(OpRegistry& r);
void RegisterTensorArrayOps(OpRegistry& r);
void RegisterStringOps(OpRegistry& r);
void RegisterSummaryOps(OpRegistry& r);
void RegisterTrainingOps(OpRegistry& r);
void RegisterVariantOps(OpRegistry& r);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_REGISTER_H_
