// The master of a task: runs the sessions whose clients have chosen this task.
#ifndef TENSORBRAID_CLUSTER_MASTER_MASTER_H_
#define TENSORBRAID_CLUSTER_MASTER_MASTER_H_

#include <memory>
#include <string>
#include <vector>

#include "cluster/master/master_env.h"
#include "cluster/master/master_session.h"
#include "cluster/membership/cluster_view.h"

namespace tensorbraid {

// One per task. Thread-safe.
class Master {
 public:
  explicit Master(MasterOptions options) : env_(std::move(options)) {}
  ~Master();

  const std::string& task() const { return env_.task; }  // "/job:worker/replica:0/task:1"
  uint64_t incarnation() const { return env_.incarnation; }
  std::shared_ptr<MasterSession> NewSession(const Graph* graph, MasterSessionOptions options);
  // Fails all steps and everything that sessions wait for.
  void Shutdown(const Status& why) { env_.steps.Stop(why); }

  // The steps that run now, and how many have ended.
  RunningSteps::State steps() const { return env_.steps.state(); }

  // The names of the master's own devices, followed by those of other tasks that match one of `filters` (empty: all).
  std::vector<DeviceName> DeviceNames(const std::vector<DeviceName>& filters) const {
    return DeviceNamesOf(*env_.membership->view(), filters);
  }
  // The same devices, after waiting a few seconds for all these tasks to connect. Those of a task that could not be
  // reached have incarnation 0.
  std::vector<ClusterDevice> ListDevices(const std::vector<DeviceName>& filters) const;
  // Clears these containers (empty: the default container) on this task and on every connected task that matches
  // `device_filters` (empty: all). Blocks until all of them have replied.
  Status ResetContainers(const std::vector<std::string>& containers, const std::vector<std::string>& device_filters);

 private:
  MasterEnv env_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_MASTER_H_
