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
  std::function<void()> cancel;         // guarded by mu
  std::atomic<uint64_t> call{0};        // changes with `cancel`
  std::atomic<uint64_t> pressed_in{0};  // what `call` was when Ctrl-C was pressed
  void (*python_handler)(int) = nullptr;
  sem_t pressed;
};

Watch& TheWatch() {
  static Watch* const watch = [] {
    auto* const made = new Watch;
    sem_init(&made->pressed, 0, 0);
    return made;
  }();
  return *watch;
}

void WaitForInterrupts() {
  Watch& watch = TheWatch();
  while (true) {
    if (sem_wait(&watch.pressed) != 0) continue;
    const std::lock_guard lock(watch.mu);
    // A later call than the one that was to be interrupted goes on.
    if (watch.cancel && watch.pressed_in == watch.call) watch.cancel();
  }
}

void StartThread() {
  // The new thread gets no signals, from its beginning on.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread(WaitForInterrupts).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Python's handler notes the signal; the thread is told as well. All of this is safe in a signal handler. The kernel
// may choose any thread for it. If the main thread begins a call meanwhile, either it finds the note, or the call is
// the one that is interrupted.
void OnInterrupt(int number) {
  Watch& watch = TheWatch();
  watch.python_handler(number);
  watch.pressed_in = watch.call.load();
  sem_post(&watch.pressed);
}

bool OnMainThread() {
  static const unsigned long main = [] {
    const nb::object thread = nb::module_::import_("threading").attr("main_thread")();
    return nb::cast<unsigned long>(thread.attr("ident"));
  }();
  return PyThread_get_thread_ident() == main;
}

// Puts OnInterrupt in front of Python's handler, where it stays until the program sets another one. Returns false if
// the program handles SIGINT in a way of its own.
bool HandlesInterrupt() {
  struct sigaction current = {};
  sigaction(SIGINT, nullptr, &current);
  if (current.sa_handler == OnInterrupt) return true;
  const nb::module_ signals = nb::module_::import_("signal");
  if (!signals.attr("getsignal")(SIGINT).is(signals.attr("default_int_handler"))) return false;
  TheWatch().python_handler = current.sa_handler;
  current.sa_handler = OnInterrupt;
  return sigaction(SIGINT, &current, nullptr) == 0;
}

// Replaces what Ctrl-C calls, and returns what it was.
std::function<void()> SetCancel(std::function<void()> cancel) {
  Watch& watch = TheWatch();
  const std::lock_guard lock(watch.mu);
  ++watch.call;
  return std::exchange(watch.cancel, std::move(cancel));
}

}  // namespace

void WatchInterrupts() {
  if (OnMainThread()) HandlesInterrupt();
}

Interruptible::Interruptible(std::function<void()> cancel) : cancel_(std::move(cancel)) { Begin(); }

Interruptible::Interruptible() : cancel_([] { RequestStop("Ctrl-C"); }), stops_process_(true) { Begin(); }

void Interruptible::Begin() {
  if (!OnMainThread() || !HandlesInterrupt()) return;
  active_ = true;
  static std::once_flag started;
  std::call_once(started, StartThread);
  outer_ = SetCancel(cancel_);
  // A signal that came before.
  if (PyErr_CheckSignals() == 0) return;
  End();
  throw nb::python_error();
}

Interruptible::~Interruptible() { End(); }

void Interruptible::End() {
  if (!active_) return;
  active_ = false;
  SetCancel(std::move(outer_));
  if (stops_process_ && StopRequested()) WithdrawStopRequest();
}

void Interruptible::Check() const {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace tensorbraid::python
