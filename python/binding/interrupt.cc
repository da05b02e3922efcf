#include "binding/interrupt.h"

#include <semaphore.h>
#include <signal.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "core/threads/stop.h"

namespace tensorbraid::python {
namespace {

// The one call of the main thread that can be interrupted, and the thread that interrupts it.
struct Watch {
  std::mutex mu;
  std::function<void()> cancel;  // guarded by mu
  struct sigaction before = {};  // Python's handler of SIGINT, while ours is in its place
  sem_t pressed;
};

Watch& TheWatch() {
  static Watch* const watch = [] {
    auto* const made = new Watch;
    sem_init(&made->pressed, 0, 0);
    std::thread([made] {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      while (true) {
        if (sem_wait(&made->pressed) != 0) continue;
        const std::lock_guard lock(made->mu);
        if (made->cancel) made->cancel();
      }
    }).detach();
    return made;
  }();
  return *watch;
}

// Python's handler notes the signal; the thread is told as well. Both are safe in a signal handler.
void OnInterrupt(int number) {
  Watch& watch = TheWatch();
  watch.before.sa_handler(number);
  sem_post(&watch.pressed);
}

bool OnMainThread() {
  static const unsigned long main = [] {
    const nb::object thread = nb::module_::import_("threading").attr("main_thread")();
    return nb::cast<unsigned long>(thread.attr("ident"));
  }();
  return PyThread_get_thread_ident() == main;
}

bool HasDefaultHandler() {
  const nb::module_ signals = nb::module_::import_("signal");
  return signals.attr("getsignal")(SIGINT).is(signals.attr("default_int_handler"));
}

}  // namespace

Interruptible::Interruptible(std::function<void()> cancel) : cancel_(std::move(cancel)) { Begin(); }

Interruptible::Interruptible() : cancel_([] { RequestStop("Ctrl-C"); }), stops_process_(true) { Begin(); }

void Interruptible::Begin() {
  if (!OnMainThread() || !HasDefaultHandler()) return;
  active_ = true;
  Watch& watch = TheWatch();
  {
    const std::lock_guard lock(watch.mu);
    outer_ = std::exchange(watch.cancel, cancel_);
  }
  outermost_ = !outer_;
  if (!outermost_) return;
  struct sigaction ours = {};
  ours.sa_handler = OnInterrupt;
  sigaction(SIGINT, &ours, &watch.before);
  // A signal that came before this handler.
  if (PyErr_CheckSignals() == 0) return;
  End();
  throw nb::python_error();
}

Interruptible::~Interruptible() { End(); }

void Interruptible::End() {
  if (!active_) return;
  Watch& watch = TheWatch();
  if (outermost_) {
    // A hook of the user may have set a handler of its own, which then stays.
    struct sigaction current = {};
    sigaction(SIGINT, nullptr, &current);
    if (current.sa_handler == OnInterrupt) sigaction(SIGINT, &watch.before, nullptr);
  }
  const std::lock_guard lock(watch.mu);
  watch.cancel = outer_;
  if (stops_process_ && StopRequested()) WithdrawStopRequest();
}

void Interruptible::Check() const {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace tensorbraid::python
