// Runs a node that uses variables of an accelerator, and has no place in a program, by the kernel of the CPU.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_ON_HOST_KERNEL_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_ON_HOST_KERNEL_H_

#include <string_view>

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// MakeClusters sets this attribute (bool) of the nodes that get this kernel. They stay on the device of their
// variables.
inline constexpr std::string_view kOnHost = "_on_host";
bool RunsOnHost(const Node& node);

// The kernel locks the variables, copies their values to the host, computes, and copies back the values of a node that
// may have changed them. So other steps see the update as a whole, and wait for it. All inputs that are not variables,
// and all outputs, are in host memory. Unimplemented for nodes whose kernel is asynchronous.
const KernelDef& OnHostKernelDef();

// Whether the node may change the value of a variable that it has as an input.
bool ChangesVariable(const Node& node);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_ON_HOST_KERNEL_H_
