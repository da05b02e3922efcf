// Declares the functions that register the control flow ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_CONTROL_FLOW_REGISTRATION_H_
#define TENSORBRAID_OPS_CONTROL_FLOW_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterControlFlowOps(OpRegistry& r);              // control_flow.cc
void RegisterControlFlowFunctionalOps(OpRegistry& r);    // functional.cc
void RegisterControlFlowHostFunctionOps(OpRegistry& r);  // host_function.cc
void RegisterControlFlowSendRecvOps(OpRegistry& r);      // send_recv.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_CONTROL_FLOW_REGISTRATION_H_
