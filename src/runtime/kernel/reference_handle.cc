#include "runtime/kernel/reference_handle.h"

#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {

ReferenceHandle::ReferenceHandle(RefPtr<Resource> resource, const std::string& name)
    : VariableResource(name, kString, Shape({2})), resource_(std::move(resource)) {}

RefPtr<VariableResource> MakeReferenceHandle(RefPtr<Resource> resource, const std::string& container,
                                             const std::string& name) {
  auto handle = MakeRef<ReferenceHandle>(std::move(resource), name);
  TB_CHECK_OK(handle->Assign(Tensor::Vector<std::string>({ResourceManager::ContainerName(container), name})));
  return handle;
}

StatusOr<ResourceName> ParseReferenceHandle(const Tensor& handle) {
  if (handle.dtype() != kString || handle.num_elements() != 2) {
    return InvalidArgument("a handle must be a string tensor [container, name], got ", handle.dtype(), handle.shape());
  }
  const auto parts = handle.data<std::string>();
  return ResourceName{parts[0], parts[1]};
}

}  // namespace tensorbraid
