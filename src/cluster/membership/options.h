// The intervals and timeouts with which a task watches the other tasks of its cluster.
#ifndef TENSORBRAID_CLUSTER_MEMBERSHIP_OPTIONS_H_
#define TENSORBRAID_CLUSTER_MEMBERSHIP_OPTIONS_H_

#include <chrono>

namespace tensorbraid {

struct MembershipOptions {
  std::chrono::milliseconds heartbeat_interval{1000};
  // A link is closed when it has been silent for this long.
  std::chrono::milliseconds heartbeat_timeout{10000};
  // A task is lost when it has been disconnected for this long.
  std::chrono::milliseconds lost_after{30000};
  // A wait for a task is logged after this time, and again each time it has passed.
  std::chrono::milliseconds slow_wait{5000};
  // How long Join still waits for the tasks that work, after this process was asked to stop.
  std::chrono::milliseconds stop_grace{30000};
  // How long Join waits before it logs which tasks have never connected, and which still work. The time doubles with
  // each such line.
  std::chrono::milliseconds join_log_after{10000};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MEMBERSHIP_OPTIONS_H_
