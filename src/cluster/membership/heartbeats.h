// Heartbeats: how a task notices that another one has ended or cannot be reached, although its links are still up.
#ifndef TENSORBRAID_CLUSTER_MEMBERSHIP_HEARTBEATS_H_
#define TENSORBRAID_CLUSTER_MEMBERSHIP_HEARTBEATS_H_

#include <chrono>
#include <memory>
#include <vector>

#include "cluster/membership/options.h"
#include "cluster/peer/peer_connection.h"
#include "core/system/clock.h"

namespace tensorbraid {

// Sends heartbeats, and closes a link that has been silent for heartbeat_timeout, so that everything that waits for its
// task fails. Whether the task is then lost, because it stays unreachable, is decided in membership.cc. Not
// thread-safe.
class Heartbeats {
 public:
  explicit Heartbeats(const MembershipOptions& options)
      : interval_(options.heartbeat_interval), timeout_(options.heartbeat_timeout) {}

  // Call this several times in each interval, with all connections that are up. The heartbeats tell the other tasks
  // `only_serves`.
  void Tick(const std::vector<std::shared_ptr<PeerConnection>>& up, bool only_serves);

 private:
  const std::chrono::milliseconds interval_, timeout_;
  MonotonicClock::time_point next_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBERSHIP_HEARTBEATS_H_
