#include "runtime/variables/locked_variables.h"

#include <algorithm>
#include <utility>

#include "core/text/logging.h"

namespace tensorbraid {

LockedVariables::LockedVariables(std::vector<VariableResource*> variables)
    : variables_(std::move(variables)), locked_(variables_) {
  std::sort(locked_.begin(), locked_.end());
  locked_.erase(std::unique(locked_.begin(), locked_.end()), locked_.end());
  for (VariableResource* variable : locked_) variable->mu_.Lock();
}

LockedVariables::~LockedVariables() {
  for (VariableResource* variable : locked_) variable->mu_.Unlock();
}

void LockedVariables::Replace(size_t i, Tensor value) {
  VariableResource& variable = *variables_[i];
  TB_CHECK(value.dtype() == variable.dtype_ && variable.IsOwnMemory(value));
  if (!variable.value_.is_valid() || variable.value_.shape() != value.shape()) variable.row_locks_ = nullptr;
  variable.ForgetChanges();
  std::swap(variable.value_, value);
  if (value.is_valid()) dropped_.push_back(std::move(value));
}

}  // namespace tensorbraid
