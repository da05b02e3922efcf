#include "ops/register.h"

namespace tensorbraid {

const OpRegistry& OpRegistry::Global() {
  static const OpRegistry* registry = [] {
    auto* r = new OpRegistry;
    RegisterArrayOps(*r);
    RegisterCheckpointOps(*r);
    RegisterControlFlowOps(*r);
    RegisterCrossOps(*r);
    RegisterDataFlowOps(*r);
    RegisterLinalgOps(*r);
    RegisterFileOps(*r);
    RegisterDatasetOps(*r);
    RegisterFunctionalOps(*r);
    RegisterIteratorOps(*r);
    RegisterLoggingOps(*r);
    RegisterMathOps(*r);
    RegisterNnOps(*r);
    RegisterParsingOps(*r);
    RegisterRandomOps(*r);
    RegisterReductionOps(*r);
    RegisterSendRecvOps(*r);
    RegisterSetOps(*r);
    RegisterSparseOps(*r);
    RegisterStateOps(*r);
    RegisterTensorArrayOps(*r);
    RegisterStringOps(*r);
    RegisterSummaryOps(*r);
    RegisterTrainingOps(*r);
    RegisterVariantOps(*r);
    return r;
  }();
  return *registry;
}

}  // namespace tensorbraid
