// The flow control of eager tensors (see exchange/exchange.h) on one link.
#ifndef TENSORBRAID_CLUSTER_PEER_EAGER_FLOW_H_
#define TENSORBRAID_CLUSTER_PEER_EAGER_FLOW_H_

#include <algorithm>
#include <cstdint>

#include "core/threads/mutex.h"

namespace tensorbraid {

// Running totals of eager bytes, in both directions. Thread-safe.
class EagerFlow {
 public:
  // --- What this task sends.
  // Counts `bytes` as sent and returns true, unless more than `budget` bytes would then be sent and not consumed.
  bool Reserve(uint64_t bytes, uint64_t budget) {
    MutexLock lock(mu_);
    if (sent_ - credited_ + bytes > budget) return false;
    sent_ += bytes;
    return true;
  }
  // The peer reports how many bytes it has consumed in total. Impossible reports are ignored.
  void OnCredit(uint64_t consumed) {
    MutexLock lock(mu_);
    if (consumed <= sent_) credited_ = std::max(credited_, consumed);
  }

  // --- What this task receives.
  // Counts `bytes` as received. Returns how many bytes have been received and not consumed.
  uint64_t Receive(uint64_t bytes) {
    MutexLock lock(mu_);
    received_ += bytes;
    return received_ - consumed_;
  }
  // Counts `bytes` as consumed. Returns the total of consumed bytes if it should be reported to the peer, otherwise 0.
  // It is reported every `interval` bytes.
  uint64_t Consume(uint64_t bytes, uint64_t interval) {
    MutexLock lock(mu_);
    consumed_ += bytes;
    if (consumed_ - reported_ < interval) return 0;
    return reported_ = consumed_;
  }

 private:
  Mutex mu_;
  uint64_t sent_ TB_GUARDED_BY(mu_) = 0;
  uint64_t credited_ TB_GUARDED_BY(mu_) = 0;  // of `sent_`
  uint64_t received_ TB_GUARDED_BY(mu_) = 0;
  uint64_t consumed_ TB_GUARDED_BY(mu_) = 0;  // of `received_`
  uint64_t reported_ TB_GUARDED_BY(mu_) = 0;  // of `consumed_`
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PEER_EAGER_FLOW_H_
