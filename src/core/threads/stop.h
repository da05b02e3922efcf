// How parts of the library that wait hear of a request to stop (tensorbraid/stop.h).
#ifndef TENSORBRAID_CORE_THREADS_STOP_H_
#define TENSORBRAID_CORE_THREADS_STOP_H_

#include <functional>

#include "tensorbraid/core/stop.h"

namespace tensorbraid {

// Calls `wake` once when this process is asked to stop, on a thread of its own; in the constructor, if it was asked
// before. `wake` must not block, and must not make or destroy objects of this class. It is not running any more when
// the destructor returns.
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

// What a signal does: makes StopRequested() true and calls the listeners. `why` is logged, for example "SIGTERM".
void RequestStop(const char* why);
// For tests, which then start another training in the same process.
void WithdrawStopRequest();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_STOP_H_
