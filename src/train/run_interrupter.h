// Ends a run that does not end by itself after this process was asked to stop.
#ifndef TENSORBRAID_TRAIN_RUN_INTERRUPTER_H_
#define TENSORBRAID_TRAIN_RUN_INTERRUPTER_H_

#include <chrono>
#include <functional>
#include <optional>

#include "core/mutex.h"
#include "core/stop.h"
#include "core/thread.h"

namespace tensorbraid {

// In synchronous training, for example, a step waits for the gradients of a worker that has left already. One thread
// begins and ends runs, one at a time.
class RunInterrupter {
 public:
  static constexpr std::chrono::seconds kGrace{5};

  // `interrupt` is called on a thread of its own if a run is in progress `grace` after the request to stop, and again
  // once a second until that run has ended. It must make running steps fail.
  explicit RunInterrupter(std::function<void()> interrupt, std::chrono::milliseconds grace = kGrace);
  ~RunInterrupter();

  void BeginRun();
  void EndRun();
  // Whether `interrupt` has been called.
  bool interrupted() const;

 private:
  void WaitAndInterrupt();
  bool RunEndsWithin(std::chrono::milliseconds time);

  const std::function<void()> interrupt_;
  const std::chrono::milliseconds grace_;
  mutable Mutex mu_;
  CondVar changed_;
  bool stop_requested_ TB_GUARDED_BY(mu_) = false;
  bool running_ TB_GUARDED_BY(mu_) = false;
  bool interrupted_ TB_GUARDED_BY(mu_) = false;
  bool ended_ TB_GUARDED_BY(mu_) = false;
  Thread thread_;
  std::optional<OnStopRequest> on_stop_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_RUN_INTERRUPTER_H_
