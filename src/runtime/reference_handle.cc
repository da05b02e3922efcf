#include "runtime/reference_handle.h"

#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {

RefPtr<VariableResource> MakeReferenceHandle(const std::string& container, const std::string& name) {
  auto reference = MakeRef<VariableResource>(name, kString, Shape({2}));
  TB_CHECK_OK(reference->Assign(Tensor::Vector<std::string>({ResourceManager::ContainerName(container), name})));
  return reference;
}

StatusOr<ResourceName> ParseReferenceHandle(const Tensor& handle) {
  if (handle.dtype() != kString || handle.num_elements() != 2) {
    return InvalidArgument("a handle is a string tensor of container and name, got ", handle.dtype(), handle.shape());
  }
  const auto parts = handle.data<std::string>();
  return ResourceName{parts[0], parts[1]};
}

}  // namespace tensorbraid
