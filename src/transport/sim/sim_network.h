// A network of the imagination, for tests: delays, reordering, cuts and deaths by a seeded schedule.
//
// One thread delivers everything, by a virtual clock that jumps from event to event. Every message is encoded and
// decoded by codec.h. What handlers do is repeated exactly under the same seed as long as nobody sends from other
// threads; sends from outside fall where they fall.
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
};

// Thread-safe. Transports keep what they need of it, except the thread: it must outlive their use.
class SimNetwork {
 public:
  explicit SimNetwork(uint32_t seed, const SimOptions& options = {});
  ~SimNetwork();
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  uint32_t seed() const { return seed_; }
  std::unique_ptr<Transport> NewTransport();

  // The task that listens at `address` dies as by SIGKILL: its links break, and nobody reaches it until another
  // transport listens there. Its own handler is told that its links are down.
  void KillTask(const std::string& address);
  // Between these two nothing arrives, as behind a cut cable: links stay up and messages wait, attempts to connect run
  // into their timeout. Heal delivers what waits, in order.
  void Partition(const std::string& a, const std::string& b);
  void Heal(const std::string& a, const std::string& b);

 private:
  const uint32_t seed_;
  const std::shared_ptr<sim::Core> core_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIM_SIM_NETWORK_H_
