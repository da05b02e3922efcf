// Runs a small graph, or a part of one, in this process and without a session: for constant folding and tests.
#ifndef TENSORBRAID_EXECUTOR_EVALUATE_H_
#define TENSORBRAID_EXECUTOR_EVALUATE_H_

#include <utility>
#include <vector>

#include "core/threads/thread_pool.h"
#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/resource.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

struct EvaluateOptions {
  // Nodes to run in addition to the fetched ones.
  std::vector<Operation> targets = {};
  // Holds variables and other resources. If null, they are dropped when the call returns.
  ResourceManager* resources = nullptr;
  // For parallel loops in kernels. If null, these loops run on the calling thread.
  ThreadPool* pool = nullptr;
  // Cancels asynchronous kernels that wait. If null, they are never cancelled.
  CancellationManager* cancellation = nullptr;
};

// Computes the fetches from the feeds. Runs the nodes that the fetches depend on, one after the other, each with a new
// CPU kernel; devices are ignored. Blocks while an asynchronous kernel (such as a dequeue) waits. Stops at the first
// error and returns it, prefixed with the description of the node. InvalidArgument if an operation or tensor is not
// valid, or a feed has the wrong dtype or shape. Unimplemented for control flow ops.
StatusOr<std::vector<Tensor>> Evaluate(const std::vector<Output>& fetches,
                                       const std::vector<std::pair<Output, Tensor>>& feeds = {},
                                       const EvaluateOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_EVALUATE_H_
