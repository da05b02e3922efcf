// The locks of several variables at once, for programs that a device runs as a whole.
#ifndef TENSORBRAID_RUNTIME_VARIABLES_LOCKED_VARIABLES_H_
#define TENSORBRAID_RUNTIME_VARIABLES_LOCKED_VARIABLES_H_

#include <cstddef>
#include <vector>

#include "runtime/variables/variable_resource.h"

namespace tensorbraid {

// While it exists, no other thread reads or changes the values of these variables. So one thread can enqueue work that
// reads some of them and replaces others, as if all of this happened at one moment. Not thread-safe.
class LockedVariables {
 public:
  // Locks the variables, in the order of their addresses. Blocks while other threads use one of them. A variable may be
  // in the list several times. The variables must outlive this object.
  explicit LockedVariables(std::vector<VariableResource*> variables) TB_NO_THREAD_SAFETY_ANALYSIS;
  ~LockedVariables() TB_NO_THREAD_SAFETY_ANALYSIS;
  LockedVariables(const LockedVariables&) = delete;
  LockedVariables& operator=(const LockedVariables&) = delete;

  // The value of variable `i` of the list; not valid if the variable is not initialized.
  const Tensor& value(size_t i) const TB_NO_THREAD_SAFETY_ANALYSIS { return variables_[i]->value_; }
  // Replaces the value of variable `i`. The earlier value is dropped when this object is destroyed, after the locks
  // are released. REQUIRES: `value` has the variable's dtype and is in the variable's memory (checked).
  void Replace(size_t i, Tensor value) TB_NO_THREAD_SAFETY_ANALYSIS;

 private:
  const std::vector<VariableResource*> variables_;
  std::vector<VariableResource*> locked_;  // each once, by address
  std::vector<Tensor> dropped_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_VARIABLES_LOCKED_VARIABLES_H_
