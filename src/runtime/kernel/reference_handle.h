// Reference handles, the older form of resource handles: the value of outputs that are declared "handle: Ref(string)"
// (FIFOQueue, ConditionalAccumulator, Barrier, Stack, HashTable, readers).
//
// A reference handle is a reference to a string tensor [container, name]; fetching it yields that tensor. The reference
// also holds the resource. So using the handle needs no lookup by name, and the resource need not be in a
// ResourceManager (it may belong to one step or one kernel).
//
// Most kernels need not distinguish the forms: HandleKernel (handle_kernel.h) emits the form that its node declares,
// and KernelContext::LookupResource accepts both. It also accepts "handle: string" inputs (TensorArrayV2), whose value
// is such a string tensor, and looks the resource up by name. Other kernels emit a reference handle by
// ctx.set_output_ref(0, MakeReferenceHandle(resource, container, name)).
#ifndef TENSORBRAID_RUNTIME_KERNEL_REFERENCE_HANDLE_H_
#define TENSORBRAID_RUNTIME_KERNEL_REFERENCE_HANDLE_H_

#include <string>

#include "runtime/variables/variable_resource.h"

namespace tensorbraid {

struct ResourceName {
  std::string container;
  std::string name;
};

class ReferenceHandle final : public VariableResource {
 public:
  ReferenceHandle(RefPtr<Resource> resource, const std::string& name);
  const RefPtr<Resource>& resource() const { return resource_; }

 private:
  const RefPtr<Resource> resource_;
};

// An empty `container` means the default container.
RefPtr<VariableResource> MakeReferenceHandle(RefPtr<Resource> resource, const std::string& container,
                                             const std::string& name);
// The container and name in the string tensor of a reference handle. InvalidArgument unless `handle` is a string tensor
// of two elements.
StatusOr<ResourceName> ParseReferenceHandle(const Tensor& handle);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_REFERENCE_HANDLE_H_
