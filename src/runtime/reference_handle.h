// Handles of the old form: what outputs declared "handle: Ref(string)" carry (FIFOQueue, ConditionalAccumulator,
// Barrier, Stack, HashTable, readers).
//
// Such a handle is a reference to a string tensor [container, name], and fetching it gives that tensor; the reference
// itself also holds the resource, so that looking it up costs no search, and a resource need not be in a
// ResourceManager (one of a step, or of one kernel). Nobody has to care: HandleKernel (handle_kernel.h) emits the form
// that its node declares, and KernelContext::LookupResource takes both, as well as "handle: string" inputs
// (TensorArrayV2), whose value is such a tensor and which are searched for by name. Other kernels emit
// ctx.set_output_ref(0, MakeReferenceHandle(resource, container, name)).
#ifndef TENSORBRAID_RUNTIME_REFERENCE_HANDLE_H_
#define TENSORBRAID_RUNTIME_REFERENCE_HANDLE_H_

#include <string>

#include "runtime/variable_resource.h"

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

// `container` "" is written as the default one.
RefPtr<VariableResource> MakeReferenceHandle(RefPtr<Resource> resource, const std::string& container,
                                             const std::string& name);
// What such a tensor says. InvalidArgument when it is no string tensor of two elements.
StatusOr<ResourceName> ParseReferenceHandle(const Tensor& handle);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_REFERENCE_HANDLE_H_
