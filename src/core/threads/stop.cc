#include "core/threads/stop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <set>

#include "core/text/logging.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"

namespace tensorbraid {

struct StopListeners {
  Mutex mu;
  std::set<const OnStopRequest*> all TB_GUARDED_BY(mu);

  static StopListeners& Global() {
    static auto* listeners = new StopListeners;
    return *listeners;
  }
  void Add(const OnStopRequest* listener) {
    MutexLock lock(mu);
    if (StopRequested()) {
      listener->wake_();
    } else {
      all.insert(listener);
    }
  }
  void Remove(const OnStopRequest* listener) {
    MutexLock lock(mu);
    all.erase(listener);
  }
  void WakeAll() {
    MutexLock lock(mu);
    for (const OnStopRequest* listener : all) listener->wake_();
    all.clear();
  }
};

namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT};

std::atomic<bool> stop_requested = false;
int signal_event = -1;  // an eventfd; OnSignal writes the number of the signal

std::atomic<int64_t> first_signal_ns = 0;  // when the first signal came, by the monotonic clock

// Wakes the thread that calls WaitForSignal for the first signal. A later one ends the process, also if that thread
// hangs, unless it is the same request. Only calls that are safe in a signal handler.
void OnSignal(int number) {
  const int saved_errno = errno;
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t now_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  int64_t first_ns = 0;
  if (first_signal_ns.compare_exchange_strong(first_ns, now_ns)) {
    const auto value = static_cast<uint64_t>(number);
    (void)!write(signal_event, &value, sizeof value);
  } else if (std::chrono::nanoseconds(now_ns - first_ns) >= kSameStopRequest) {
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    sigaction(number, &usual, nullptr);
    raise(number);  // takes effect when this function returns
  }
  errno = saved_errno;
}

// The handler of a signal may not take locks, so a thread does the work.
void WaitForSignal() {
  uint64_t number = 0;
  while (read(signal_event, &number, sizeof number) != sizeof number) {
    if (errno != EINTR) return;
  }
  RequestStop(number == SIGINT ? "SIGINT" : "SIGTERM");
}

bool WatchSignals() {
  signal_event = eventfd(0, EFD_CLOEXEC);
  if (signal_event < 0) return false;
  Thread("tb-signals", WaitForSignal).Detach();
  struct sigaction on_signal = {};
  on_signal.sa_handler = OnSignal;
  on_signal.sa_flags = SA_RESTART;
  for (const int signal : kSignals) sigaction(signal, &on_signal, nullptr);
  return true;
}

}  // namespace

void StopOnSignals() {
  static const bool watches = WatchSignals();
  if (!watches) {
    TB_LOG(Warning, "core") << "cannot watch signals: SIGTERM will end this process without a checkpoint";
  }
}

bool StopRequested() { return stop_requested.load(std::memory_order_relaxed); }

void RequestStop(const char* why) {
  TB_LOG(Info, "core") << why << ": stopping in good order; a second signal after 1 s ends this process at once";
  stop_requested = true;
  StopListeners::Global().WakeAll();
}

void WithdrawStopRequest() { stop_requested = false; }

OnStopRequest::OnStopRequest(std::function<void()> wake) : wake_(std::move(wake)) { StopListeners::Global().Add(this); }

OnStopRequest::~OnStopRequest() { StopListeners::Global().Remove(this); }

}  // namespace tensorbraid
