// Simulates the training steps of a cluster.
#ifndef TENSORBRAID_PLANNER_SIMULATION_H_
#define TENSORBRAID_PLANNER_SIMULATION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "planner/network.h"
#include "planner/step_program.h"
#include "planner/stragglers.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::planner {

// The machines of a cluster, and where its tasks are.
struct ClusterModel {
  struct TaskPlace {
    int host = 0;  // index into host_cores
    int link = 0;  // index into links; tasks with the same link exchange messages without a network
  };
  std::vector<double> host_cores;
  std::vector<LinkSpeed> links;
  std::vector<TaskPlace> servers, workers;
  WayCosts local;   // between tasks of the same link
  WayCosts remote;  // between tasks of different links
};
// A machine with `cores` and a link for each task.
ClusterModel SeparateMachines(int servers, int workers, double cores, const LinkSpeed& link, const WayCosts& remote);
// All tasks on one machine.
ClusterModel OneMachine(int servers, int workers, double cores, const WayCosts& local);

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

// What bounds the speed of a training.
enum class Bound { kCompute, kWorkerLink, kServerLink, kServerCpu, kStragglers, kMessages };
std::string_view BoundName(Bound bound);  // "compute", "worker link", "PS link", "PS CPU", "stragglers", "messages"

struct Prediction {
  double step_ms = 0;        // median time of a worker's step
  double steps_per_s = 0;    // of all workers; in synchronous training, those whose gradients were used
  double updates_per_s = 0;  // of the variables; in synchronous training, each uses the gradients of several workers
  double examples_per_s = 0;

  // Shares of a worker's step, on average.
  double compute_share = 0;    // the worker computes, or waits for a core
  double straggler_share = 0;  // its gradients are added, and those of slower workers are missing
  // Shares of the time in which the busiest link or machine of each kind was in use.
  double worker_link_use = 0, server_link_use = 0, server_cpu_use = 0;

  double mean_staleness = 0;  // updates between the reading of the variables and the worker's own update
  int64_t max_staleness = 0;
  double dropped_share = 0;  // of the steps: gradients that came late
  Bound bound = Bound::kCompute;
};

// Simulates steps of `program` on each worker of `cluster`. InvalidArgument if the cluster has no worker, fewer servers
// than the program uses, or not more workers than spares. The time is proportional to the number of messages.
StatusOr<Prediction> Simulate(const StepProgram& program, const ClusterModel& cluster, const TrainingModel& training);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_SIMULATION_H_
