// Declares the functions that register the state ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_STATE_REGISTRATION_H_
#define TENSORBRAID_OPS_STATE_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterStateScatterOps(OpRegistry& r);    // scatter.cc
void RegisterStateScatterNdOps(OpRegistry& r);  // scatter_nd.cc
void RegisterStateSliceOps(OpRegistry& r);      // slice.cc
void RegisterStateOps(OpRegistry& r);           // state.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_STATE_REGISTRATION_H_
