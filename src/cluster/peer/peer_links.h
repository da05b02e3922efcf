// Finds the connections to the other tasks of a cluster by the numbers of the tasks.
#ifndef TENSORBRAID_CLUSTER_PEER_PEER_LINKS_H_
#define TENSORBRAID_CLUSTER_PEER_PEER_LINKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cluster/peer/peer_connection.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A number stands for a task of the cluster on this task only, and never changes. A partition learns the numbers of its
// peers when it is registered, so that no step looks up a task by name. Thread-safe. No function blocks.
class PeerLinks {
 public:
  virtual ~PeerLinks() = default;
  // NotFound if the cluster has no such task and none of that name has ever connected.
  virtual StatusOr<uint32_t> NumberOf(const std::string& task) = 0;
  // Calls back, on any thread, with the connection to a task: at once if the task is connected, otherwise after
  // dialing. Fails if the task cannot be reached soon. REQUIRES: NumberOf has returned `peer`.
  using ConnectionDone = std::function<void(StatusOr<std::shared_ptr<PeerConnection>>)>;
  virtual void GetConnection(uint32_t peer, ConnectionDone done) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PEER_PEER_LINKS_H_
