// State that kernels keep from step to step and that checkpoints can hold, such as the position of a random generator
// in its stream.
#ifndef TENSORBRAID_RUNTIME_KERNEL_KERNEL_STATE_H_
#define TENSORBRAID_RUNTIME_KERNEL_KERNEL_STATE_H_

#include <map>
#include <memory>
#include <string>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

class Kernel;
class Node;

// The state of one kernel. Thread-safe.
class KernelState {
 public:
  virtual ~KernelState() = default;
  // Returns the state as an int64 vector.
  virtual Tensor Save() const = 0;
  // An empty vector stands for the state of a new kernel. InvalidArgument if `state` cannot be the state of this
  // kernel.
  virtual Status Restore(const Tensor& state) = 0;
};

// A kernel that may have a KernelState. state() is null if the kernel of this node has none.
class StatefulKernel {
 public:
  virtual ~StatefulKernel() = default;
  virtual KernelState* state() = 0;
};

// The states of the kernels of a session on one task, or of an instance of a function. A kernel is found by the name of
// its node. Thread-safe.
class KernelStates {
 public:
  virtual ~KernelStates() = default;
  // Returns the state of the node's kernel, or an empty vector if the kernel does not exist yet.
  virtual Tensor Save(const std::string& node) = 0;
  // Sets the state of the node's kernel. If the kernel does not exist yet, it will start in this state.
  virtual Status Restore(const std::string& node, const Tensor& state) = 0;
  virtual std::map<std::string, Tensor> SaveAll() = 0;
  // Returns the kernel that computes the node on the task's first CPU, and makes it if it does not exist yet. For a
  // device that does the node's work, but keeps its state in this kernel.
  virtual StatusOr<std::shared_ptr<Kernel>> KernelOnHost(const Node& node) = 0;
};

// A kernel that saves and restores the states of other kernels. After the construction of this kernel, its plan
// (executor/plan.h) calls UseStates. The states live as long as the kernel.
class KernelStatesUser {
 public:
  virtual ~KernelStatesUser() = default;
  virtual void UseStates(KernelStates* states) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_KERNEL_STATE_H_
