// A simulated network for tests. A seed determines the delays, the partitions and the killed tasks. Messages of
// different channels (see transport.h) may overtake each other.
//
// One thread delivers everything, by a clock of its own that jumps from event to event. Every message is encoded and
// decoded by codec.h. As long as only handlers send, the same seed repeats a run exactly; messages sent from other
// threads enter the schedule at whatever time it has reached. If the process runs under a simulated clock, the network
// should follow that clock: then a run repeats exactly, whichever threads send.
#ifndef TENSORBRAID_TRANSPORT_SIM_SIM_NETWORK_H_
#define TENSORBRAID_TRANSPORT_SIM_SIM_NETWORK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "transport/transport.h"

namespace tensorbraid {

namespace sim {
class Core;
}

struct SimOptions {
  std::chrono::microseconds max_delay{1000};  // each message takes a random time up to this
  size_t max_bulk_part_bytes = 1 << 20;       // BulkTensors arrive in parts of random sizes up to this
  double link_loss = 0;                       // the probability that a link breaks instead of carrying a message
  bool follow_clock = false;                  // the network's time is MonotonicClock's, instead of a clock of its own
  // Called on the network's thread before the functions of the task that listens at `address` are called. What it
  // returns is released when they have returned. May be null.
  std::function<std::shared_ptr<void>(const std::string& address)> before_delivery = nullptr;
};

// What a task has sent, and the links that it has now.
struct SimTraffic {
  size_t links = 0;
  uint64_t messages = 0;       // includes heartbeats
  uint64_t heartbeats = 0;     // and messages that say that a task leaves or only serves
  uint64_t control_bytes = 0;  // all bytes but those of tensors
  uint64_t tensor_bytes = 0;
};

// What may go wrong with each attempt to connect.
struct ConnectFaults {
  double late = 0;       // the probability that the attempt arrives late, perhaps after the caller has given up
  double duplicate = 0;  // the probability that it arrives twice; the caller closes the second link
  std::chrono::milliseconds max_late{10'000};
};

// Thread-safe. Use the transports only while the network exists, because its thread delivers their messages.
class SimNetwork {
 public:
  explicit SimNetwork(uint32_t seed, const SimOptions& options = {});
  ~SimNetwork();
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  uint32_t seed() const { return seed_; }
  std::unique_ptr<Transport> NewTransport();

  // Kills the task that listens at `address`, as SIGKILL would: its links break, and it cannot be reached until another
  // transport listens there. The killed task's own handler gets OnLinkDown for its links.
  void KillTask(const std::string& address);
  // Cuts the network between two tasks, as if a cable were unplugged: links stay up, messages wait, and attempts to
  // connect time out. Heal delivers the waiting messages in order.
  void Partition(const std::string& a, const std::string& b);
  // As Partition, for messages from one task to another only.
  void PartitionOneWay(const std::string& from, const std::string& to);
  // Ends both kinds of partitions.
  void Heal(const std::string& a, const std::string& b);
  // Delivers nothing to the task that listens at `address`, and calls none of its functions, until ResumeTask or
  // KillTask, as SIGSTOP would. The threads of the task are the caller's business.
  void PauseTask(const std::string& address);
  void ResumeTask(const std::string& address);
  // Each message from one task to another takes up to `most` longer. The messages of one channel stay in order.
  void SetExtraDelay(const std::string& from, const std::string& to, std::chrono::microseconds most);
  // Replaces SimOptions::link_loss.
  void SetLinkLoss(double probability);
  void SetConnectFaults(const ConnectFaults& faults);
  // What the task that listens at `address` has sent since it started to listen. Zeros if none listens there.
  SimTraffic TrafficOf(const std::string& address);
  // Calls `event` once, on the network's thread, right before the network delivers its `n`-th message from now on.
  // `event` may call functions of this object; otherwise it must not block.
  void AtMessage(uint64_t n, std::function<void()> event);

 private:
  const uint32_t seed_;
  const std::shared_ptr<sim::Core> core_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIM_SIM_NETWORK_H_
