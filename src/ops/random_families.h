// The parts of the random family.
#ifndef TENSORBRAID_OPS_RANDOM_FAMILIES_H_
#define TENSORBRAID_OPS_RANDOM_FAMILIES_H_

#include "graph/op_registry.h"

namespace tensorbraid {

void RegisterStatelessRandomOps(OpRegistry& r);  // random_stateless.cc
void RegisterRandomSamplingOps(OpRegistry& r);   // random_sampling.cc

// The shape rule of ops whose first input is the shape of the output.
Status ShapeFromInput(ShapeContext& c);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_RANDOM_FAMILIES_H_
