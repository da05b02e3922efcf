// A simulated network for tests, with delays, reordering, partitions and killed tasks by a seeded schedule.
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
  bool follow_clock = false;                  // deliver when MonotonicClock has reached the time of an event
};

// Thread-safe. Must outlive the use of its transports: they share its state, but its thread ends with it.
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
  void Heal(const std::string& a, const std::string& b);

 private:
  const uint32_t seed_;
  const std::shared_ptr<sim::Core> core_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIM_SIM_NETWORK_H_
