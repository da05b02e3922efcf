#include "binding/python_calls.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "binding/log.h"
#include "core/system/program_end.h"
#include "core/threads/recursive_mutex.h"

namespace tensorbraid::python {
namespace {

struct Calls {
  std::mutex mu;
  std::condition_variable idle;
  int running = 0;  // guarded by mu
  std::atomic<bool> ending{false};
  std::thread::id ender;  // the thread that ends the program, once `ending` is set
};
Calls& TheCalls() {
  static Calls* const calls = new Calls;
  return *calls;
}

void EndCalls() {
  nb::gil_scoped_release unlocked;
  Calls& calls = TheCalls();
  std::unique_lock lock(calls.mu);
  calls.ender = std::this_thread::get_id();
  calls.ending = true;
  calls.idle.wait_for(lock, std::chrono::seconds(2), [&] { return calls.running == 0; });
}

}  // namespace

void TakeLock(PyThreadState* state) {
  const Calls& calls = TheCalls();
  while (calls.ending && calls.ender != std::this_thread::get_id()) std::this_thread::sleep_for(std::chrono::hours(1));
  PyEval_RestoreThread(state);
}

namespace {

// Whether this thread holds Python's lock.
bool HoldsPythonsLock() {
#ifdef Py_LIMITED_API
  // Since Python 3.12, a thread has a current state only while it holds the lock.
  return PyThreadState_GetDict() != nullptr;
#else
  return PyGILState_Check() != 0;
#endif
}

// A thread that waits for a graph lets go of Python's lock meanwhile.
constexpr OuterLock kPythonsLock = {
    .give_up = []() -> void* { return HoldsPythonsLock() ? PyEval_SaveThread() : nullptr; },
    .take = [](void* state) { TakeLock(static_cast<PyThreadState*>(state)); },
};

}  // namespace

Unlocked::~Unlocked() {
  TakeLock(state_);
  PassLogLines();
}

PythonCall::PythonCall() {
  {
    const std::lock_guard lock(TheCalls().mu);
    if (TheCalls().ending) return;
    ++TheCalls().running;
  }
  locked_.emplace();
}

PythonCall::~PythonCall() {
  if (!locked_.has_value()) return;
  locked_.reset();
  const std::lock_guard lock(TheCalls().mu);
  if (--TheCalls().running == 0) TheCalls().idle.notify_all();
}

std::shared_ptr<nb::object> Shared(nb::object object) {
  return std::shared_ptr<nb::object>(new nb::object(std::move(object)), [](nb::object* held) {
    const PythonCall call;
    if (call.allowed()) delete held;
  });
}

void BindPythonCalls(Module&) {
  SetOuterLock(&kPythonsLock);
  const auto at_exit = nb::module_::import_("atexit").attr("register");
  at_exit(nb::cpp_function([] {
    const nb::gil_scoped_release release;
    EndProgram();
  }));
  at_exit(nb::cpp_function(&EndCalls));
}

}  // namespace tensorbraid::python
