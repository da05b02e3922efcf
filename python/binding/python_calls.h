// Python's lock: calls that release it, and calls of functions of Python by threads of the library. A thread may lock a
// graph (GraphLock) while it holds Python's lock: it releases Python's lock while it waits.
#ifndef TENSORBRAID_PYTHON_BINDING_PYTHON_CALLS_H_
#define TENSORBRAID_PYTHON_BINDING_PYTHON_CALLS_H_

#include <memory>
#include <optional>

#include "binding/binding.h"

namespace tensorbraid::python {

// Holds Python's lock while it exists, unless the program is ending: a thread that asks for the lock then never gets
// it. At exit, the program waits up to two seconds for the objects that exist.
class PythonCall {
 public:
  PythonCall();
  ~PythonCall();
  PythonCall(const PythonCall&) = delete;
  PythonCall& operator=(const PythonCall&) = delete;

  // False if the program is ending. Nothing of Python may then be used.
  bool allowed() const { return locked_.has_value(); }

 private:
  std::optional<nb::gil_scoped_acquire> locked_;
};

// Takes Python's lock after PyEval_SaveThread. If the program ends, the thread never returns, unless it is the one that
// ends the program: Python would end it in the middle of C++.
void TakeLock(PyThreadState* state);

// Releases Python's lock while it exists, for a call that may block. The destructor takes the lock again and passes log
// lines on (PassLogLines), so it must not run with a lock of the library. If the program ends meanwhile, a daemon
// thread, for which Python does not wait, never returns from the destructor: Python would end it in the middle of
// C++.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* const state_;
};

// Calls `call` without Python's lock.
template <typename Call>
auto WithoutLock(const Call& call) {
  const Unlocked unlocked;
  return call();
}

// A reference to an object of Python for a function of C++ that may be destroyed without Python's lock.
std::shared_ptr<nb::object> Shared(nb::object object);

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_PYTHON_CALLS_H_
