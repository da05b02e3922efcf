// Optimizes a graph by running passes over it: rewrites that make it cheaper to run without changing its results.
#ifndef TENSORBRAID_EXECUTOR_OPTIMIZE_H_
#define TENSORBRAID_EXECUTOR_OPTIMIZE_H_

#include <string>
#include <vector>

#include "core/threads/still_wanted.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

struct OptimizeOptions {
  std::vector<std::string> skipped_passes = {};  // names of passes that do not run; see executor/passes/passes.cc
};

// Rewrites `graph` by all passes that are not skipped, in the order of Passes() (executor/passes/pass.h). `graph` is
// the placed subgraph that one combination of feeds, fetches and targets needs. For debugging, the environment variable
// TENSORBRAID_SKIP_PASSES names more passes to skip, separated by commas; names that are not passes are reported in the
// log.
//
// Nodes that remain keep their names, devices and source locations. Nodes with state or references and control flow ops
// are not changed, with one exception: an Identity that only reads a reference is removed, and its consumers then read
// the variable themselves, when they start. Nodes inside loops or branches, and nodes with control inputs, are not
// folded. After an error the graph must not be used. Returns the error of `still_wanted`, which is called before every
// pass and before every computation of constants.
Status Optimize(Graph* graph, const OptimizeOptions& options = {}, const StillWanted& still_wanted = nullptr);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_OPTIMIZE_H_
