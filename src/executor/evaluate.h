// Runs a small graph, or a part of one, at once and in this process: constant folding and tests.
#ifndef TENSORBRAID_EXECUTOR_EVALUATE_H_
#define TENSORBRAID_EXECUTOR_EVALUATE_H_

#include <utility>
#include <vector>

#include "core/thread_pool.h"
#include "runtime/cancellation.h"
#include "runtime/resource.h"
#include "tensorbraid/graph.h"

namespace tensorbraid {

struct EvaluateOptions {
  // Nodes to run besides those that are fetched.
  std::vector<Operation> targets = {};
  // Where variables and the like are kept; null: forgotten at the end of the call.
  ResourceManager* resources = nullptr;
  // For loops in kernels; null: loops run on this thread.
  ThreadPool* pool = nullptr;
  // What asynchronous kernels hear; null: they are never cancelled.
  CancellationManager* cancellation = nullptr;
};

// Computes the fetches from the feeds: the nodes they depend on, one after the other, with the CPU kernels, made anew.
// Placement is ignored. Blocks while an asynchronous kernel (a dequeue) waits. The first error comes back, with the
// node put before it; nodes after it are not run.
// InvalidArgument when an operation or tensor is not valid or a feed has the wrong dtype or shape.
StatusOr<std::vector<Tensor>> Evaluate(const std::vector<Output>& fetches,
                                       const std::vector<std::pair<Output, Tensor>>& feeds = {},
                                       const EvaluateOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_EVALUATE_H_
