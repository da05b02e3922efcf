// What a device has been given to do and has not finished.
#ifndef TENSORBRAID_PJRT_IN_FLIGHT_H_
#define TENSORBRAID_PJRT_IN_FLIGHT_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <set>

#include "core/threads/mutex.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

// The work of a device, each piece with a number. Pieces may end in any order. Thread-safe.
class InFlight {
 public:
  using Done = std::function<void(const Status&)>;

  // A piece of work begins. Returns its number.
  uint64_t Begin() TB_EXCLUDES(mu_);
  // It has ended. An error is kept for the next call of WhenDone.
  void End(uint64_t number, const Status& status) TB_EXCLUDES(mu_);
  // Begin and end work for which WhenDone does not wait, such as a copy whose user gets a callback at its end.
  void BeginAside() TB_EXCLUDES(mu_);
  void EndAside() TB_EXCLUDES(mu_);
  // Calls `done` when all work that has begun before has ended, on the thread that ends the last piece, or at once.
  // Passes the first error since the last call of WhenDone.
  void WhenDone(Done done) TB_EXCLUDES(mu_);
  // Whether all work that has begun has ended. Includes the work of BeginAside.
  bool IsIdle() const TB_EXCLUDES(mu_);
  // Waits until all work that has begun before has ended. Includes the work of BeginAside.
  void Wait() TB_EXCLUDES(mu_);

 private:
  struct Waiter {
    uint64_t end;  // waits for all numbers below
    Done done;
  };
  bool HasEnded(uint64_t end) const TB_REQUIRES(mu_) { return running_.empty() || *running_.begin() >= end; }

  mutable Mutex mu_;
  CondVar ended_;
  uint64_t next_ TB_GUARDED_BY(mu_) = 0;
  std::set<uint64_t> running_ TB_GUARDED_BY(mu_);
  int aside_ TB_GUARDED_BY(mu_) = 0;
  std::deque<Waiter> waiters_ TB_GUARDED_BY(mu_);
  Status error_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_IN_FLIGHT_H_
