// Ends a run that does not end by itself after this process was asked to stop, or after a background thread has failed.
#ifndef TENSORBRAID_TRAIN_SESSIONS_RUN_INTERRUPTER_H_
#define TENSORBRAID_TRAIN_SESSIONS_RUN_INTERRUPTER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/threads/mutex.h"
#include "core/threads/stop.h"
#include "core/threads/thread.h"

namespace tensorbraid {

// Interrupts, for example, a step of synchronous training that waits for the gradients of a worker that has left. One
// thread begins and ends runs, one at a time.
class RunInterrupter {
 public:
  static constexpr std::chrono::seconds kGrace{5};

  // If a run has not ended `grace` after the request to stop, or after the run's beginning if that is later, calls
  // `interrupt` on a separate thread, and repeats the call once a second until the run has ended. `interrupt` must make
  // running steps fail.
  explicit RunInterrupter(std::function<void()> interrupt, std::chrono::milliseconds grace = kGrace);
  ~RunInterrupter();

  // From now on, interrupts each run as soon as it has begun, without grace. Call it when the runs have become
  // pointless. Thread-safe, and does not block.
  void InterruptFromNowOn();

  void BeginRun();
  // Returns whether the run was interrupted. If `interrupt` is being called, waits until it has returned, because it
  // could otherwise end the next run.
  bool EndRun();
  // Whether the run in progress has been interrupted.
  bool interrupted() const;
  // Waits until `time` has passed, this process is asked to stop, or InterruptFromNowOn is called. Returns whether one
  // of the latter two has happened.
  bool MustStopWithin(std::chrono::nanoseconds time);

 private:
  void WaitAndInterrupt();
  // Blocks until a run is in progress that has to end. Returns its number, and sets `patience` to the time that it
  // still has. Returns 0 once the destructor has begun.
  uint64_t AwaitRunToEnd(std::chrono::milliseconds* patience);
  // Waits until the run has ended, or `time` has passed. Returns whether it has ended.
  bool RunEndsWithin(uint64_t run, std::chrono::milliseconds time);

  const std::function<void()> interrupt_;
  const std::chrono::milliseconds grace_;
  mutable Mutex mu_;
  CondVar changed_;
  bool stop_requested_ TB_GUARDED_BY(mu_) = false;
  bool from_now_on_ TB_GUARDED_BY(mu_) = false;   // InterruptFromNowOn was called
  uint64_t runs_ TB_GUARDED_BY(mu_) = 0;          // how many runs have begun
  bool running_ TB_GUARDED_BY(mu_) = false;       // the last run is in progress
  bool interrupted_ TB_GUARDED_BY(mu_) = false;   // the last run was interrupted
  bool in_interrupt_ TB_GUARDED_BY(mu_) = false;  // `interrupt_` is being called
  bool ended_ TB_GUARDED_BY(mu_) = false;         // the destructor has begun
  Thread thread_;
  std::optional<OnStopRequest> on_stop_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SESSIONS_RUN_INTERRUPTER_H_
