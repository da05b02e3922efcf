// The program of one worker in a simulated training.
#ifndef TENSORBRAID_TESTS_SIMULATION_REPLICA_H_
#define TENSORBRAID_TESTS_SIMULATION_REPLICA_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/testing/test_cluster.h"
#include "simulation/training.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {

// The directory of checkpoints on the simulated disk.
inline constexpr char kCheckpoints[] = "/training";

// The keys of growing tables. The steps train all but the last one.
inline constexpr std::array<int64_t, 6> kTableKeys = {-7, 0, 1'001, 5, 123'456'789, 9};
// The numbers of the keys that a worker's n-th run trains.
inline std::array<size_t, 2> TrainedKeys(int64_t n) {
  return {static_cast<size_t>(n % 3), static_cast<size_t>(3 + n % 2)};
}

// Counts the runs of one worker, in all of its processes. Thread-safe.
struct Runs {
  std::atomic<int64_t> begun{0};         // attempts; a run that is repeated after a recovery has several
  std::atomic<int64_t> acknowledged{0};  // runs that returned OK
  std::atomic<int64_t> dropped{0};
  std::atomic<int64_t> next{0};  // the number of the next run; its attempts train the same keys
  // The same of each key of the growing tables.
  std::array<std::atomic<int64_t>, kTableKeys.size()> begun_of_key{}, acknowledged_of_key{};
};

// The graph of a small softmax classifier on one worker, and its training loop.
struct Replica {
  Replica(const TestCluster& cluster, int worker, const TrainingOptions& options);

  // Trains to the last step. Calls `ready` when the session exists, `warm` after the first run, and `reached` after
  // each run with the global step that it saw. Internal if the global step has fallen.
  Status Train(Runs& runs, const std::function<void()>& ready, const std::function<void()>& warm,
               const std::function<void(int64_t)>& reached);

  const std::string target;
  const bool is_chief;
  const bool checkpoints, increments;
  Graph g;
  Output x, labels, step, keys;
  std::vector<Output> rows;    // of all keys, for each growing table
  std::vector<Output> shapes;  // of each part of these tables
  Variable weights, count;
  std::vector<std::shared_ptr<SessionRunHook>> hooks;
  std::shared_ptr<AsyncReplicasOptimizer> async;
  Operation train;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_SIMULATION_REPLICA_H_
