#include "cluster/master/await_call.h"

#include <algorithm>
#include <memory>

#include "core/system/clock.h"
#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"

namespace tensorbraid {

Status AwaitCall(const RemoteWorker& worker, const char* what, std::chrono::steady_clock::time_point deadline,
                 std::chrono::milliseconds slow_wait, const StillWanted& still_wanted,
                 const std::function<void(RemoteWorker::Done)>& call) {
  // Time between two calls of still_wanted.
  constexpr std::chrono::milliseconds kSlice{50};
  struct Shared {
    Mutex mu;
    CondVar cv;
    bool done = false;
    Status status;
  };
  auto shared = std::make_shared<Shared>();
  call([shared](const Status& status) {
    MutexLock lock(shared->mu);
    shared->done = true;
    shared->status = status;
    shared->cv.NotifyAll();
  });
  MutexLock lock(shared->mu);
  auto log_at = MonotonicClock::now() + slow_wait;
  while (true) {
    auto until = std::min(deadline, log_at);
    if (still_wanted != nullptr) until = std::min(until, MonotonicClock::now() + kSlice);
    if (shared->cv.WaitUntil(shared->mu, until, [&] { return shared->done; })) return shared->status;
    TF_RETURN_IF_ERROR(CheckStillWanted(still_wanted));
    const auto now = MonotonicClock::now();
    if (now >= deadline) {
      return DeadlineExceeded("the deadline has passed while waiting for ", ShortTaskName(worker.task()), " ", what);
    }
    if (now < log_at) continue;
    log_at = now + slow_wait;
    TB_LOG(Info, "cluster") << "waiting for " << ShortTaskName(worker.task()) << " " << what;
  }
}

}  // namespace tensorbraid
