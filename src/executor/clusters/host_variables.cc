#include "executor/clusters/host_variables.h"

#include <future>
#include <utility>

#include "core/values/new_tensor.h"
#include "runtime/kernel/resource.h"

namespace tensorbraid {
namespace {

std::vector<VariableResource*> Pointers(const std::vector<RefPtr<VariableResource>>& variables) {
  std::vector<VariableResource*> pointers;
  for (const auto& variable : variables) pointers.push_back(variable.get());
  return pointers;
}

}  // namespace

StatusOr<Tensor> CopyTo(Allocator& memory, const Tensor& from, Device& device) {
  TF_ASSIGN_OR_RETURN(const Tensor to, NewTensor(from.dtype(), from.shape(), memory));
  const auto copied = std::make_shared<std::promise<Status>>();  // the thread that sets it may outlast this function
  device.Copy(from, to, [copied](const Status& status) { copied->set_value(status); });
  TF_RETURN_IF_ERROR(copied->get_future().get());
  return to;
}

Status PrivateVariables::Add(const VariableResource& variable, const Tensor& value) {
  on_host_.push_back(MakeRef<ReferenceVariable>(variable.name(), variable.dtype(), Shape::Unknown()));
  if (!value.is_valid()) return OkStatus();
  TF_ASSIGN_OR_RETURN(Tensor copy, CopyTo(HostAllocator(), value, device_));
  return on_host_.back()->Assign(std::move(copy));
}

StatusOr<std::unique_ptr<PrivateVariables>> PrivateVariables::Create(
    const std::vector<RefPtr<VariableResource>>& variables, const std::vector<Tensor>& values, Device& device) {
  std::unique_ptr<PrivateVariables> made(new PrivateVariables(device));
  for (size_t i = 0; i < variables.size(); ++i) TF_RETURN_IF_ERROR(made->Add(*variables[i], values[i]));
  return made;
}

Entry PrivateVariables::InPlaceOf(size_t i, DType declared) const {
  if (IsRef(declared)) return {.value = {}, .ref = on_host_[i]};
  return {.value = MakeHandleTensor(on_host_[i], device_.name(), "", on_host_[i]->name()), .ref = {}};
}

int PrivateVariables::NumberOf(const RefCounted* variable) const {
  for (size_t i = 0; i < on_host_.size(); ++i) {
    if (on_host_[i].get() == variable) return static_cast<int>(i);
  }
  return -1;
}

HostVariables::HostVariables(std::vector<RefPtr<VariableResource>> variables, Device& device)
    : PrivateVariables(device), on_device_(std::move(variables)), locked_(Pointers(on_device_)) {}

StatusOr<std::unique_ptr<HostVariables>> HostVariables::Lock(std::vector<RefPtr<VariableResource>> variables,
                                                             Device& device) {
  std::unique_ptr<HostVariables> made(new HostVariables(std::move(variables), device));
  for (size_t i = 0; i < made->on_device_.size(); ++i) {
    TF_RETURN_IF_ERROR(made->Add(*made->on_device_[i], made->locked_.value(i)));
  }
  return made;
}

Status HostVariables::CopyBack(const std::vector<bool>& changed) {
  std::vector<Tensor> values(on_host_.size());
  for (size_t i = 0; i < on_host_.size(); ++i) {
    if (!changed[i] || !on_host_[i]->is_initialized()) continue;
    TF_RETURN_IF_ERROR(on_host_[i]->ReadInPlace([&](const Tensor& value) -> Status {
      TF_ASSIGN_OR_RETURN(values[i], CopyTo(device_.allocator(), value, device_));
      return OkStatus();
    }));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_valid()) locked_.Replace(i, std::move(values[i]));
  }
  return OkStatus();
}

}  // namespace tensorbraid
