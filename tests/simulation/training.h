// Trains in a simulation: on a cluster of simulated processes, with faults.
#ifndef TENSORBRAID_TESTS_SIMULATION_TRAINING_H_
#define TENSORBRAID_TESTS_SIMULATION_TRAINING_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/system/clock.h"
#include "simulation/fault_plan.h"
#include "simulation/scheduler.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/optimizers/async_replicas.h"
#include "transport/sim/sim_network.h"

namespace tensorbraid {

enum class Network {
  kInproc,  // without faults or delays; messages of different links are handled at the same time
  kSim,     // messages take time
  kLocal,   // as kSim, but the tasks are neighbours: once they have met, they communicate by shared memory
};

struct TrainingOptions {
  Network network = Network::kSim;
  int num_ps = 1;
  int num_workers = 2;
  bool sync = false;
  int spares = 0;  // gradients that a step of synchronous training can do without
  std::optional<StalenessPolicy> staleness = std::nullopt;  // of asynchronous training
  // Variables that the parameter servers get beside the three that every model has: its weights, the global step, and
  // the one that counts gradients.
  int biases = 0;
  // Growing tables, in parts on all parameter servers. Each step trains two keys in each of them. Every second table
  // counts keys, and admits them at once.
  int tables = 0;
  int64_t last_step = 20;
  bool checkpoints = false;  // the chief saves one every 5 steps, on the simulated disk
  bool increments = false;   // with checkpoints: the chief saves one every 15 steps, and an increment after other steps
  int clients = 0;           // threads whose sessions come and go
  // Faults begin before half of the steps have been made, so that training can always end. A parameter server may be
  // killed, and the connection to it may be lost, only with checkpoints.
  FaultPlan faults = {};
  // Training ends when a parameter server is lost, as it must without checkpoints.
  bool may_lose_ps = false;
  // A connection that is silent for ten times as long is closed. The default keeps simulations short.
  std::chrono::milliseconds heartbeat_interval{100};
  // Fills in Trained::ready and Trained::reached. REQUIRES: no faults, and a simulated network.
  bool measure = false;
};

// What a task has cost since it was started.
struct TaskCosts {
  SimTraffic traffic;
  std::chrono::nanoseconds cpu{};  // of all its threads, and of the network's thread while it calls the task
  int most_threads = 0;
  int64_t runs = 0;  // of a worker, that have returned OK
};

// The costs of all tasks at one moment.
struct ClusterCosts {
  MonotonicClock::duration at{};  // since the tasks were started
  int64_t global_step = 0;
  std::map<FaultyTask, TaskCosts> tasks;
};

// The final state of a training run.
struct Trained {
  int64_t global_step = 0;
  double count = 0;          // gradients that were applied or, in synchronous training, steps
  int64_t acknowledged = 0;  // runs that returned OK
  int64_t kills = 0;         // of all tasks
  int64_t dropped = 0;       // gradients of `count` that were dropped, as reported to the workers
  std::string weights;       // of a softmax classifier, bit for bit
  // With TrainingOptions::measure: the costs when all workers had their sessions, when each had made a step, and when
  // three quarters of the steps were made, before any worker ends.
  ClusterCosts ready = {}, warm = {}, reached = {};
};

// Trains a small softmax classifier until its last step. Each task is a simulated process. A task that is killed is
// started again.
//
// Checks these invariants; the first that does not hold ends the simulation (Scheduler::Fail):
// - No task ends by itself, and all workers end without an error. With may_lose_ps, their errors name the lost task.
// - The global step that a worker sees never falls while the worker has the same session.
// - A value that a worker has read stays as it is.
// - No gradient is applied twice. Those of acknowledged asynchronous steps are applied, except that the loss of a
//   parameter server may cost the steps since the latest checkpoint.
// - When the power fails, the disk keeps the checkpoint of each save that has returned.
// - Each step of synchronous training applies an average of gradients.
// - The rows of growing tables are those of a dictionary that counts the gradients of each worker and key: at most all
//   that were computed, at least those of acknowledged steps if no parameter server was lost, and exactly these without
//   faults. A key that was never trained has no row.
// - At the end, no task holds a step or a session of another one.
StatusOr<Trained> Train(Scheduler& scheduler, const TrainingOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_SIMULATION_TRAINING_H_
