// Objects of C++ that have threads, in processes that Python forks.
#ifndef TENSORBRAID_PYTHON_BINDING_THREAD_OWNER_H_
#define TENSORBRAID_PYTHON_BINDING_THREAD_OWNER_H_

#include <concepts>
#include <utility>

#include "binding/binding.h"
#include "binding/python_calls.h"
#include "core/system/fork_count.h"
#include "core/text/strings.h"

namespace tensorbraid::python {

// Owns an object that has threads, by a std::unique_ptr or std::shared_ptr. The object ends without Python's lock,
// since its threads may call functions of Python. A child of fork, as multiprocessing makes it, has the objects of its
// parent but not their threads, for which a destructor would wait for ever: there the object is left as it is.
template <typename Pointer>
class ThreadOwner {
 public:
  ThreadOwner() = default;
  template <typename Other>
  requires std::convertible_to<Other&&, Pointer> ThreadOwner(Other&& object)
      : object_(std::forward<Other>(object)) {}  // NOLINT: as pointers convert
  ThreadOwner(ThreadOwner&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), process_(other.process_) {}
  ThreadOwner& operator=(ThreadOwner&& other) noexcept {
    if (this == &other) return *this;
    reset();
    object_ = std::exchange(other.object_, nullptr);
    process_ = other.process_;
    return *this;
  }
  ~ThreadOwner() { reset(); }

  void reset() {
    if (object_ == nullptr) return;
    if (forked()) {
      new Pointer(std::exchange(object_, nullptr));  // lives as long as the process
      return;
    }
    const Unlocked unlocked;
    object_.reset();
  }

  // Whether the object is another process's, of which this one is a child.
  bool forked() const { return ForkCount() != process_; }
  // Raises FailedPreconditionError if it is. `name` is what Python calls the object: "session".
  void CheckProcess(const char* name) const {
    if (object_ == nullptr || !forked()) return;
    Check(FailedPrecondition("this ", name,
                             " belongs to the process that has forked this one, and its threads "
                             "are there; make a ",
                             name, " in this process"));
  }
  const Pointer& pointer() const { return object_; }
  auto* get() const { return object_.get(); }
  auto& operator*() const { return *object_; }
  auto* operator->() const { return object_.get(); }
  bool operator==(std::nullptr_t) const { return object_ == nullptr; }

 private:
  Pointer object_;
  int process_ = ForkCount();
};

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_THREAD_OWNER_H_
