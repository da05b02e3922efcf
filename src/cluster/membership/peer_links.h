// The links to the other tasks of a cluster, by number.
#ifndef TENSORBRAID_CLUSTER_MEMBERSHIP_PEER_LINKS_H_
#define TENSORBRAID_CLUSTER_MEMBERSHIP_PEER_LINKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tensorbraid/core/status.h"
#include "transport/transport.h"

namespace tensorbraid {

// A number stands for a task of the cluster on this task only, and never changes. A partition learns the numbers of its
// peers when it is registered, so that no step looks up a task by name. Thread-safe. No function blocks.
class PeerLinks {
 public:
  virtual ~PeerLinks() = default;
  // NotFound if the cluster has no such task and none of that name has ever connected.
  virtual StatusOr<uint32_t> NumberOf(const std::string& task) = 0;
  // Calls back with the link to a task: at once if it is connected, otherwise after dialing, on any thread. Fails if it
  // cannot be reached soon. REQUIRES: NumberOf has returned `peer`.
  using LinkDone = std::function<void(StatusOr<std::shared_ptr<Link>>)>;
  virtual void GetLink(uint32_t peer, LinkDone done) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBERSHIP_PEER_LINKS_H_
