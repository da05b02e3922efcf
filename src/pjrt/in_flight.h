// What a device has been given to do and has not finished.
#ifndef TENSORBRAID_PJRT_IN_FLIGHT_H_
#define TENSORBRAID_PJRT_IN_FLIGHT_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <set>

#include "core/threads/mutex.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

// The work of a device, each piece with a number. Pieces may end in any order. Thread-safe.
class InFlight {
 public:
  using Done = std::function<void(const Status&)>;
  // Identifies a step. Null: no step, for work whose user gets a callback at its end, such as a copy.
  using Step = const void*;

  // A piece of work of this step begins. Returns its number.
  uint64_t Begin(Step step) TB_EXCLUDES(mu_);
  // It has ended. An error is kept for the next call of WhenDone with this step.
  void End(Step step, uint64_t number, const Status& status) TB_EXCLUDES(mu_);
  // Calls `done` when the work of this step that has begun before has ended; if `step` is null, all work. It is called
  // on the thread that ends the last piece, or at once. Passes the first error of this step's work, or, if `step` is
  // null, of the work of no step, since the last such call.
  void WhenDone(Step step, Done done) TB_EXCLUDES(mu_);
  // Whether all work that has begun has ended.
  bool IsIdle() const TB_EXCLUDES(mu_);
  // Waits until all work that has begun before has ended.
  void Wait() TB_EXCLUDES(mu_);

 private:
  struct Work {
    std::set<uint64_t> running;
    Status error;
    bool HasEnded(uint64_t end) const { return running.empty() || *running.begin() >= end; }
  };
  struct Waiter {
    Step step;
    uint64_t end;  // waits for all numbers below
    Done done;
  };
  bool HasEnded(Step step, uint64_t end) const TB_REQUIRES(mu_);
  Status TakeError(Step step) TB_REQUIRES(mu_);

  mutable Mutex mu_;
  CondVar ended_;
  uint64_t next_ TB_GUARDED_BY(mu_) = 0;
  std::map<Step, Work> work_ TB_GUARDED_BY(mu_);  // of steps with work that runs or an error
  std::list<Waiter> waiters_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_IN_FLIGHT_H_
