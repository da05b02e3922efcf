#include "cluster/membership/remote_workers.h"

#include "core/text/device_name.h"
#include "core/text/strings.h"

namespace tensorbraid {

std::shared_ptr<RemoteWorker> RemoteWorkers::Find(const std::string& task) {
  const auto connection = membership_->connections().Find(task);
  return connection == nullptr ? nullptr : connection->worker();
}

StatusOr<std::shared_ptr<RemoteWorker>> RemoteWorkers::WaitFor(const std::string& task,
                                                               std::chrono::steady_clock::time_point deadline,
                                                               const StillWanted& still_wanted) {
  TF_ASSIGN_OR_RETURN(const auto connection, membership_->connections().WaitFor(task, deadline, still_wanted));
  return connection->worker();
}

StatusOr<std::shared_ptr<RemoteWorker>> RemoteWorkers::Current(const std::shared_ptr<RemoteWorker>& known) {
  if (known->state().ok()) return known;
  const std::string& task = known->task();
  auto worker = Find(task);
  if (worker == nullptr) {
    TF_RETURN_IF_ERROR(membership_->SessionEnded(task));
    return Unavailable(ShortTaskName(task), " (", membership_->connections().AddressOf(task), ") is not connected");
  }
  if (worker->incarnation() != known->incarnation()) {
    // The message begins with TensorFlow's text, because programs search for it.
    return Aborted("Session handle is not found: ", ShortTaskName(task),
                   " has been restarted and has lost its state; create a new session");
  }
  return worker;
}

}  // namespace tensorbraid
