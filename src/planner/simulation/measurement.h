// How fast a simulated training is, and why.
#ifndef TENSORBRAID_PLANNER_SIMULATION_MEASUREMENT_H_
#define TENSORBRAID_PLANNER_SIMULATION_MEASUREMENT_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace tensorbraid::planner {

class SimulatedMachines;

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
  double cpu_ms = 0;    // of all tasks' cores, for each step of a worker
  double messages = 0;  // of all tasks, for each step of a worker
  // The tasks of a machine compete for its cores (SimulatedMachines::TasksCompete). What the system's scheduler makes
  // of that is not simulated, so the prediction is less sure.
  bool tasks_compete = false;

  double mean_staleness = 0;  // updates between the reading of the variables and the worker's own update
  int64_t max_staleness = 0;
  double dropped_share = 0;  // of the steps: gradients that came late
  Bound bound = Bound::kCompute;
};

// Counts the steps of a simulation, and makes the prediction of them. Used by one thread.
class Measurement {
 public:
  struct Step {
    double ns = 0;
    double compute_ns = 0;    // in which the worker computed, or waited for a core
    double straggler_ns = 0;  // in which it waited for slower workers
    bool dropped = false;     // its gradients came late
  };
  void AddStep(const Step& step);
  // Of an asynchronous update.
  void AddStaleness(int64_t staleness);

  // `ns` is the time that was measured, and `updates` are those of that time. `gradients` is the number of workers
  // whose gradients an update uses in synchronous training; 0: each worker updates by itself. `batch` examples are in
  // a step. All is zero if no step was counted.
  Prediction Result(double ns, int64_t updates, int gradients, double batch, SimulatedMachines* machines) const;

 private:
  int64_t used_steps_ = 0;
  double step_ns_ = 0, compute_ns_ = 0, straggler_ns_ = 0;
  std::vector<double> times_ns_;  // of all steps
  double staleness_ = 0;
  int64_t stale_updates_ = 0, max_staleness_ = 0;
};

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_SIMULATION_MEASUREMENT_H_
