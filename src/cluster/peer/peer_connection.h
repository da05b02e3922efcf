// A link to another task of the cluster, with what this task keeps for the link.
#ifndef TENSORBRAID_CLUSTER_PEER_PEER_CONNECTION_H_
#define TENSORBRAID_CLUSTER_PEER_PEER_CONNECTION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "cluster/peer/eager_flow.h"
#include "cluster/peer/link_worker.h"
#include "cluster/peer/traffic.h"
#include "core/system/clock.h"
#include "transport/transport.h"

namespace tensorbraid {

// Made when the link comes up, and never resumed: a new link is another PeerConnection. Code that has the connection
// needs no table and no lock to find what belongs to it. Thread-safe.
class PeerConnection : public std::enable_shared_from_this<PeerConnection> {
 public:
  // `received` counts what the task at the other end sends here, over all links.
  PeerConnection(std::shared_ptr<Link> link, std::shared_ptr<Traffic> received)
      : link_(std::move(link)),
        worker_(std::make_shared<LinkWorker>(link_)),
        received_(std::move(received)),
        heard_(Now()) {}
  virtual ~PeerConnection() = default;

  const std::shared_ptr<Link>& link() const { return link_; }
  const Hello& peer() const { return link_->peer(); }
  // The worker at the other end.
  const std::shared_ptr<LinkWorker>& worker() const { return worker_; }
  EagerFlow& flow() { return flow_; }

  // A message has arrived, and is handled as long as this object lives. `tensor_bytes` is the size of its payload.
  class Handling {
   public:
    Handling(PeerConnection& connection, uint64_t tensor_bytes) : connection_(connection) {
      connection_.handling_.fetch_add(1, std::memory_order_relaxed);
      connection_.received_->messages.fetch_add(1, std::memory_order_relaxed);
      connection_.received_->tensor_bytes.fetch_add(tensor_bytes, std::memory_order_relaxed);
    }
    ~Handling() {
      connection_.heard_.store(Now(), std::memory_order_relaxed);
      connection_.handling_.fetch_sub(1, std::memory_order_release);
    }
    Handling(const Handling&) = delete;
    Handling& operator=(const Handling&) = delete;

   private:
    PeerConnection& connection_;
  };

  // The time since the last message. 0 while a message is handled: other messages may have to wait behind it, so the
  // other task may only seem to be silent.
  MonotonicClock::duration silence(MonotonicClock::time_point now) const {
    if (handling_.load(std::memory_order_acquire) > 0) return MonotonicClock::duration(0);
    return now.time_since_epoch() - MonotonicClock::duration(heard_.load(std::memory_order_relaxed));
  }

 private:
  static MonotonicClock::rep Now() { return MonotonicClock::now().time_since_epoch().count(); }

  const std::shared_ptr<Link> link_;
  const std::shared_ptr<LinkWorker> worker_;
  const std::shared_ptr<Traffic> received_;
  EagerFlow flow_;
  std::atomic<int> handling_{0};            // how many messages are being handled
  std::atomic<MonotonicClock::rep> heard_;  // when the handling of the last message ended
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PEER_PEER_CONNECTION_H_
