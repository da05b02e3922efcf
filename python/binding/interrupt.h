// Ctrl-C during a call that blocks.
#ifndef TENSORBRAID_PYTHON_BINDING_INTERRUPT_H_
#define TENSORBRAID_PYTHON_BINDING_INTERRUPT_H_

#include <functional>
#include <utility>

#include "binding/binding.h"
#include "binding/python_calls.h"

namespace tensorbraid::python {

// Call it when the module is loaded. Otherwise Ctrl-C could reach another thread while the first call of the program
// begins, and the call would not be told.
void WatchInterrupts();

// While an object of this class exists on Python's main thread, Ctrl-C calls `cancel` on another thread, so that the
// call which blocks the main thread ends. Make the object with Python's lock, and call Run. Objects may be nested; the
// innermost `cancel` is called. The constructor raises KeyboardInterrupt if Ctrl-C was pressed before. Has no effect on
// other threads, or if the program handles SIGINT in a way of its own.
class Interruptible {
 public:
  explicit Interruptible(std::function<void()> cancel);
  // Asks the whole process to stop, as tensorbraid::StopOnSignals does, and withdraws the request at the end. For calls
  // that wait for other tasks. They may take some seconds to end.
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  // Runs `call` without Python's lock, so that other threads of Python go on, then `after` with it, and then raises
  // KeyboardInterrupt if Ctrl-C was pressed, or what else the signal handlers of Python raise. Returns the result of
  // `call`, a reference to which `after` gets.
  template <typename Call, typename After>
  auto Run(Call call, After after) const {
    auto result = WithoutLock(call);
    after(result);
    Check();
    return result;
  }
  template <typename Call>
  auto Run(Call call) const {
    return Run(std::move(call), [](const auto&) {});
  }

 private:
  void Check() const;
  void Begin();
  void End();
  std::function<void()> cancel_;
  std::function<void()> outer_;  // what was to be called before
  bool active_ = false;
  bool stops_process_ = false;
};

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_INTERRUPT_H_
