// Counts what this task has received from another task.
#ifndef TENSORBRAID_CLUSTER_PEER_TRAFFIC_H_
#define TENSORBRAID_CLUSTER_PEER_TRAFFIC_H_

#include <atomic>
#include <cstdint>

namespace tensorbraid {

// The counts begin when this task starts, and cover all links to the other task. Thread-safe.
struct Traffic {
  std::atomic<uint64_t> messages{0};
  std::atomic<uint64_t> tensor_bytes{0};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PEER_TRAFFIC_H_
