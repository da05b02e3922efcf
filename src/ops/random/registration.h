// Declares the functions that register the random ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_RANDOM_REGISTRATION_H_
#define TENSORBRAID_OPS_RANDOM_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

// Shape rule of ops whose first input is the shape of the output.
Status ShapeFromInput(ShapeContext& c);

void RegisterRandomCandidateSamplingOps(OpRegistry& r);  // candidate_sampling.cc
void RegisterRandomOps(OpRegistry& r);                   // random.cc
void RegisterRandomSamplingOps(OpRegistry& r);           // sampling.cc
void RegisterRandomStateOps(OpRegistry& r);              // state.cc
void RegisterRandomStatelessOps(OpRegistry& r);          // stateless.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_RANDOM_REGISTRATION_H_
