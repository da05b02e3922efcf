// State that kernels keep from step to step and that checkpoints can hold: where a random generator is in its stream.
#ifndef TENSORBRAID_RUNTIME_KERNEL_KERNEL_STATE_H_
#define TENSORBRAID_RUNTIME_KERNEL_KERNEL_STATE_H_

#include <map>
#include <string>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// The state of one kernel. Thread-safe.
class KernelState {
 public:
  virtual ~KernelState() = default;
  // An int64 vector.
  virtual Tensor Save() const = 0;
  // An empty vector stands for the state of a new kernel. InvalidArgument if `state` is not one of such a kernel.
  virtual Status Restore(const Tensor& state) = 0;
};

// A kernel with such a state; null if this node has none.
class StatefulKernel {
 public:
  virtual ~StatefulKernel() = default;
  virtual KernelState* state() = 0;
};

// The states of the kernels of a session on one task, or of an instance of a function, by the names of their nodes.
// Thread-safe.
class KernelStates {
 public:
  virtual ~KernelStates() = default;
  // The state of the node's kernel; an empty vector if the kernel does not exist yet.
  virtual Tensor Save(const std::string& node) = 0;
  // If the kernel does not exist yet, it will start in this state.
  virtual Status Restore(const std::string& node, const Tensor& state) = 0;
  virtual std::map<std::string, Tensor> SaveAll() = 0;
};

// A kernel that saves and restores the states of other kernels. The plan gives it the states after its construction;
// they live as long as the kernel.
class KernelStatesUser {
 public:
  virtual ~KernelStatesUser() = default;
  virtual void UseStates(KernelStates* states) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_KERNEL_STATE_H_
