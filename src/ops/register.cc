#include "ops/register.h"

namespace tensorbraid {

const OpRegistry& OpRegistry::Global() {
  static const OpRegistry* registry = [] {
    auto* r = new OpRegistry;
    RegisterArrayOps(*r);
    RegisterCheckpointOps(*r);
    RegisterDataFlowOps(*r);
    RegisterLoggingOps(*r);
    RegisterMathOps(*r);
    RegisterNnOps(*r);
    RegisterRandomOps(*r);
    RegisterReductionOps(*r);
    RegisterSendRecvOps(*r);
    RegisterSetOps(*r);
    RegisterSparseOps(*r);
    RegisterStateOps(*r);
    RegisterTrainingOps(*r);
    return r;
  }();
  return *registry;
}

}  // namespace tensorbraid
