// Simulates the training steps of a cluster.
#ifndef TENSORBRAID_PLANNER_SIMULATION_SIMULATION_H_
#define TENSORBRAID_PLANNER_SIMULATION_SIMULATION_H_

#include <cstdint>

#include "planner/model/step_program.h"
#include "planner/simulation/machines.h"
#include "planner/simulation/measurement.h"
#include "planner/simulation/stragglers.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::planner {

enum class Mode {
  kAsync,    // each worker's gradients update the variables when they arrive
  kSync,     // an update is the mean of the gradients of several workers (SyncReplicasOptimizer)
  kBounded,  // as kAsync, but a worker waits if it is too many steps ahead of the slowest one
};

struct TrainingModel {
  Mode mode = Mode::kAsync;
  int spares = 0;     // kSync: so many of the workers are not waited for; what comes late is dropped
  int max_ahead = 4;  // kBounded: so many steps
  Stragglers stragglers = {};
  uint64_t seed = 1;
  int warm_up_steps = 3;  // of each worker, on average; not measured
  int steps = 20;         // of each worker, on average
  // Larger tensors wait until the receiver asks for them (docs/design/0001).
  double eager_bytes = 64 << 10;
};

// Simulates steps of `program` on each worker of `cluster`. InvalidArgument if the cluster has no worker, fewer servers
// than the program uses, or not more workers than spares. The time is proportional to the number of messages.
StatusOr<Prediction> Simulate(const StepProgram& program, const ClusterModel& cluster, const TrainingModel& training);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_SIMULATION_SIMULATION_H_
