// A training for simulations: a cluster in one process whose tasks are killed and started again.
#ifndef TENSORBRAID_TESTS_SIMULATION_TRAINING_H_
#define TENSORBRAID_TESTS_SIMULATION_TRAINING_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "simulation/scheduler.h"
#include "tensorbraid/staleness.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

enum class Network {
  kInproc,  // without faults or delays; messages of different links are handled at the same time
  kSim,     // messages take time
};

struct TrainingOptions {
  Network network = Network::kSim;
  int num_workers = 2;
  bool sync = false;
  std::optional<StalenessPolicy> staleness = std::nullopt;  // of asynchronous training
  int64_t last_step = 20;
  // Tasks that are killed and started again, each at random times.
  int worker_kills = 0;  // of all workers but the chief
  int ps_kills = 0;      // at most; needs a checkpoint_dir
  // Where the chief saves a checkpoint every 5 steps; "": nowhere.
  std::string checkpoint_dir = "";
};

// The end of a training.
struct Trained {
  int64_t global_step = 0;
  float count = 0;           // a variable to which each worker adds 1 in each step
  int64_t acknowledged = 0;  // runs that returned OK
  int64_t kills = 0;         // before the training was over
  int64_t dropped = 0;       // gradients of `count` that the workers were told were dropped
  std::string weights;       // of a softmax classifier, bit for bit
};

// Trains a small softmax classifier until its last step on one parameter server and several workers. Returns the first
// error of a worker that was not killed. Internal if an invariant does not hold.
StatusOr<Trained> Train(Scheduler& scheduler, const TrainingOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_SIMULATION_TRAINING_H_
