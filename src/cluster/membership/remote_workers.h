// The workers of the other tasks of a cluster.
#ifndef TENSORBRAID_CLUSTER_MEMBERSHIP_REMOTE_WORKERS_H_
#define TENSORBRAID_CLUSTER_MEMBERSHIP_REMOTE_WORKERS_H_

#include <chrono>
#include <memory>
#include <string>

#include "cluster/membership/membership.h"
#include "cluster/peer/remote_worker.h"
#include "core/threads/still_wanted.h"

namespace tensorbraid {

// Finds RemoteWorkers by task. Today every RemoteWorker that it returns is a LinkWorker, which sends calls over the
// link of a PeerConnection. Masters use only the RemoteWorker interface, so other implementations can be added here.
// Thread-safe.
class RemoteWorkers {
 public:
  // `membership` must outlive this object.
  explicit RemoteWorkers(Membership* membership) : membership_(membership) {}

  // Null if the task is not connected.
  std::shared_ptr<RemoteWorker> Find(const std::string& task);
  // Blocks until the task is connected; see Connections::WaitFor.
  StatusOr<std::shared_ptr<RemoteWorker>> WaitFor(const std::string& task,
                                                  std::chrono::steady_clock::time_point deadline,
                                                  const StillWanted& still_wanted);
  // Returns `known` while its connection is up. Otherwise returns the RemoteWorker of a newer connection to the same
  // incarnation of the task. Returns Unavailable if the task is not connected, and Aborted if it has been restarted or,
  // in the cluster of a session, has ended its part in the session (Membership::SessionEnded).
  StatusOr<std::shared_ptr<RemoteWorker>> Current(const std::shared_ptr<RemoteWorker>& known);

 private:
  Membership* const membership_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBERSHIP_REMOTE_WORKERS_H_
