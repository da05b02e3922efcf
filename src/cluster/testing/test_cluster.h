// A cluster in one process, for tests. A test that looks into its tasks, or chooses their options, includes
// cluster/server/task.h; one that makes or uses a simulated network includes transport/sim/sim_network.h.
#ifndef TENSORBRAID_CLUSTER_TESTING_TEST_CLUSTER_H_
#define TENSORBRAID_CLUSTER_TESTING_TEST_CLUSTER_H_

#include <memory>
#include <string>

#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

class SimNetwork;
class Task;
struct LocalLaneOptions;
struct SideLaneOptions;
struct TaskOptions;

// `num_ps` parameter servers and `num_workers` workers in this process. Sessions reach them by target(). A task can be
// stopped and started again.
//
// The environment variable TENSORBRAID_TEST_NETWORK chooses the network: "inproc" (the default) passes messages between
// threads, "sim" delays and reorders them by a random seed, "local" uses shared memory, "ucx" uses
// UCX, "grpc" uses sockets.
class TestCluster {
 public:
  TestCluster(int num_ps, int num_workers);
  TestCluster(int num_ps, int num_workers, const TaskOptions& options);
  // If `simulated` is not null, the tasks communicate over it, whatever the environment variable says.
  TestCluster(int num_ps, int num_workers, const TaskOptions& options, std::unique_ptr<SimNetwork> simulated);
  // As above, but no task is started.
  struct NotStarted {};
  TestCluster(NotStarted, int num_ps, int num_workers, const TaskOptions& options,
              std::unique_ptr<SimNetwork> simulated);
  ~TestCluster();

  // Tasks that are started from now on are neighbours, which share memory beside the network.
  void ShareMemory(const LocalLaneOptions& options, const SideLaneOptions& side_lanes);

  // Starts a task. If it has run before, it gets a new incarnation.
  std::shared_ptr<Task> Start(const std::string& job, int index);
  void Stop(const std::string& job, int index, const Status& why = OkStatus());
  // Ends a task as SIGKILL would: its links break, and no other task hears why. Sessions of its process fail for good,
  // since the task has another target when it is started again. REQUIRES: the network is simulated.
  void Kill(const std::string& job, int index);

  SimNetwork& network();  // REQUIRES: the network is simulated
  std::string target(const std::string& job, int index) const;
  std::string worker_target(int index = 0) const { return target("worker", index); }
  Task& task(const std::string& job, int index);
  const ClusterSpec& spec() const;

 private:
  struct State;

  const std::unique_ptr<State> state_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TESTING_TEST_CLUSTER_H_
