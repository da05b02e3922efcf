#include "cluster/master/master.h"

#include <utility>

#include "cluster/master/await_call.h"
#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// How long ListDevices waits for tasks to connect.
constexpr std::chrono::seconds kListDevicesTimeout{5};

}  // namespace

Master::~Master() { Shutdown(Cancelled("the master has been destroyed")); }

std::shared_ptr<MasterSession> Master::NewSession(const Graph* graph, MasterSessionOptions options) {
  return std::make_shared<MasterSession>(&env_, graph, SessionId{env_.incarnation, env_.steps.NewNumber()},
                                         std::move(options));
}

std::vector<ClusterDevice> Master::ListDevices(const std::vector<DeviceName>& filters) const {
  const auto deadline = MonotonicClock::now() + kListDevicesTimeout;
  for (const std::string& task : TasksOf(*env_.membership->view(), filters)) {
    const auto connected =
        env_.membership->connections().WaitFor(task, deadline, [this] { return env_.steps.CheckRunning(); });
    if (!connected.ok()) {
      TB_LOG(Warning, "cluster") << "cannot list the devices of " << task << ": " << connected.status();
    }
  }
  return DevicesOf(*env_.membership->view(), filters);
}

Status Master::ResetContainers(const std::vector<std::string>& containers,
                               const std::vector<std::string>& device_filters) {
  env_.worker->ResetContainers(containers);
  std::vector<DeviceName> filters;
  for (const std::string& filter : device_filters) {
    TF_ASSIGN_OR_RETURN(DeviceName name, DeviceName::Parse(filter));
    filters.push_back(std::move(name));
  }
  Status status;
  for (const std::string& task : TasksOf(*env_.membership->view(), filters)) {
    const auto worker = env_.remote_workers->Find(task);
    if (worker == nullptr) continue;
    const Status done = AwaitCall(
        *worker, /*what=*/"to clear its containers", MasterSession::Deadline::max(), env_.slow_wait,
        [this] { return env_.steps.CheckRunning(); },
        [&](RemoteWorker::Done answered) { worker->ResetContainers(containers, std::move(answered)); });
    if (status.ok()) status = done;
  }
  return status;
}

}  // namespace tensorbraid
