// What a program needs from the host when it is made.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_COMPUTE_ON_HOST_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_COMPUTE_ON_HOST_H_

#include <vector>

#include "graph/model/node.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Computes a copy of the node by a kernel of the CPU, for pjrt::EmitProgram. The copy has no control inputs: what the
// node waits for runs in its own place. Errors of the kernel.
StatusOr<std::vector<Tensor>> ComputeOnHost(const Node& node, const std::vector<Tensor>& values);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_COMPUTE_ON_HOST_H_
