// Declares the functions that register the training ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_TRAINING_REGISTRATION_H_
#define TENSORBRAID_OPS_TRAINING_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterTrainingAdaptiveOps(OpRegistry& r);       // adaptive.cc
void RegisterTrainingDescentOps(OpRegistry& r);        // descent.cc
void RegisterTrainingHostSumsOps(OpRegistry& r);       // host_sums.cc
void RegisterTrainingProximalOps(OpRegistry& r);       // proximal.cc
void RegisterTrainingReplicaClocksOps(OpRegistry& r);  // replica_clocks.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_TRAINING_REGISTRATION_H_
