// Handles of the old form: what outputs declared "handle: Ref(string)" carry (FIFOQueue, ConditionalAccumulator,
// Barrier, Stack, HashTable, readers).
//
// Such a handle is a reference to a string tensor [container, name], and fetching it gives that tensor. Nobody has to
// care: HandleKernel (handle_kernel.h) emits the form that its node declares, and KernelContext::LookupResource takes
// both, as well as "handle: string" inputs (TensorArrayV2), whose value is such a tensor. The resource itself is looked
// up by name in the task's ResourceManager each time; a kernel that makes a resource of another lifetime (of a step)
// puts it there under a container of its own and emits MakeReferenceHandle(container, name) with set_output_ref.
#ifndef TENSORBRAID_RUNTIME_REFERENCE_HANDLE_H_
#define TENSORBRAID_RUNTIME_REFERENCE_HANDLE_H_

#include <string>

#include "runtime/variable_resource.h"

namespace tensorbraid {

struct ResourceName {
  std::string container;
  std::string name;
};

// A reference to [container, name]. `container` "" is written as the default one.
RefPtr<VariableResource> MakeReferenceHandle(const std::string& container, const std::string& name);
// What such a tensor says. InvalidArgument when it is no string tensor of two elements.
StatusOr<ResourceName> ParseReferenceHandle(const Tensor& handle);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_REFERENCE_HANDLE_H_
