// Declares the function that registers the wire ops, and names the file that defines it.
#ifndef TENSORBRAID_OPS_WIRE_REGISTRATION_H_
#define TENSORBRAID_OPS_WIRE_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterWireOps(OpRegistry& r);  // wire.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_WIRE_REGISTRATION_H_
