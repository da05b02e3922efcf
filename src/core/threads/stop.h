// When the process is asked to stop (tensorbraid/core/stop.h), wakes the parts of the library that wait.
#ifndef TENSORBRAID_CORE_THREADS_STOP_H_
#define TENSORBRAID_CORE_THREADS_STOP_H_

#include <chrono>
#include <functional>

#include "tensorbraid/core/stop.h"

namespace tensorbraid {

// A second signal so soon after the first one is the same request. GNU timeout and other supervisors signal a process
// and its process group, and a process that is in both gets two.
inline constexpr std::chrono::seconds kSameStopRequest{1};

// Calls `wake` once when this process is asked to stop, on the thread that calls RequestStop (for a signal, a thread
// that waits for signals). If the process has been asked before, the constructor calls `wake`. `wake` must not block,
// and must not create or destroy objects of this class. After the destructor has returned, `wake` is not running and
// will not be called.
class OnStopRequest {
 public:
  explicit OnStopRequest(std::function<void()> wake);
  ~OnStopRequest();
  OnStopRequest(const OnStopRequest&) = delete;
  OnStopRequest& operator=(const OnStopRequest&) = delete;

 private:
  friend struct StopListeners;
  const std::function<void()> wake_;
};

// Does what a signal does: makes StopRequested() true and calls the listeners. `why` is logged, for example "SIGTERM".
void RequestStop(const char* why);
// For tests: makes StopRequested() false again, so that a test can start another training run in the same process.
void WithdrawStopRequest();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_STOP_H_
