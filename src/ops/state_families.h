// The parts of the state family.
#ifndef TENSORBRAID_OPS_STATE_FAMILIES_H_
#define TENSORBRAID_OPS_STATE_FAMILIES_H_

#include "graph/op_registry.h"

namespace tensorbraid {

// state_scatter.cc: what reads and changes parts of variables.
void RegisterScatterOps(OpRegistry& r);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_STATE_FAMILIES_H_
