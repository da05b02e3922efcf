// The coordinator of Python: one of its own, or that of a training loop.
#ifndef TENSORBRAID_PYTHON_BINDING_COORDINATOR_H_
#define TENSORBRAID_PYTHON_BINDING_COORDINATOR_H_

#include <memory>
#include <vector>

#include "binding/session.h"
#include "tensorbraid/train/coordinator.h"

namespace tensorbraid::python {

// The coordinator of a training loop is borrowed: the loop sets `coordinator` to null when it ends, after which this
// object is one that has stopped.
struct PyCoordinator {
  ThreadOwner<std::shared_ptr<Coordinator>> coordinator;
  bool borrowed = false;
  std::vector<ThreadOwner<std::shared_ptr<Session>>> sessions = {};  // that the threads use; empty if borrowed

  PyCoordinator() : coordinator(std::make_shared<Coordinator>()) {}
  explicit PyCoordinator(Coordinator& lent)
      : coordinator(std::shared_ptr<Coordinator>(&lent, [](Coordinator*) {})), borrowed(true) {}
  PyCoordinator(const PyCoordinator&) = delete;
  PyCoordinator& operator=(const PyCoordinator&) = delete;
  ~PyCoordinator();
  // Ends the threads of a coordinator that is not borrowed; cancels the steps in which they are.
  void StopThreads();
  // Raises ValueError if the training loop has ended.
  Coordinator& get() const;
};

// The status for an error of Python: that of a tensorbraid.errors.OpError, or Unknown with the error's text.
Status StatusOf(nb::handle exception);

}  // namespace tensorbraid::python

#endif  // TENSORBRAID_PYTHON_BINDING_COORDINATOR_H_
