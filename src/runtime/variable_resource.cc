#include "runtime/variable_resource.h"

#include "core/strings.h"

namespace tensorbraid {

bool VariableResource::is_initialized() const {
  MutexLock lock(mu_);
  return value_.is_valid();
}

Status VariableResource::NotInitialized() const {
  return FailedPrecondition("variable '", name_, "' is not initialized: run its initializer (", name_,
                            "/Assign, or GlobalVariablesInitializer) first");
}

StatusOr<Tensor> VariableResource::Read() const {
  MutexLock lock(mu_);
  if (!value_.is_valid()) return NotInitialized();
  return value_;
}

Status VariableResource::Assign(Tensor value) {
  if (!shape_.IsCompatibleWith(value.shape())) {
    return InvalidArgument("variable '", name_, "' has shape ", shape_, " and cannot be assigned a tensor of shape ",
                           value.shape());
  }
  return AssignAnyShape(std::move(value));
}

Status VariableResource::AssignAnyShape(Tensor value) {
  if (value.dtype() != dtype_) {
    return InvalidArgument("variable '", name_, "' holds ", dtype_, " and cannot be assigned ", value.dtype());
  }
  MutexLock lock(mu_);
  std::swap(value_, value);
  return OkStatus();
}

Status VariableResource::Update(const std::function<Status(const Tensor&, Tensor*)>& update, const Tensor* spare) {
  Tensor fresh;  // after the swap: the old value, freed when the lock is released
  MutexLock lock(mu_);
  if (!value_.is_valid()) return NotInitialized();
  if (value_.IsUnique()) return update(value_, &value_);
  if (spare != nullptr && spare->IsUnique() && spare->dtype() == dtype_ && spare->shape() == value_.shape()) {
    fresh = *spare;
  } else {
    TF_ASSIGN_OR_RETURN(fresh, Tensor::Create(dtype_, value_.shape()));
  }
  TF_RETURN_IF_ERROR(update(value_, &fresh));
  std::swap(value_, fresh);
  return OkStatus();
}

std::string VariableResource::DebugString() const { return StrCat("variable ", dtype_, shape_); }

}  // namespace tensorbraid
