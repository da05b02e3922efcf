// The part of a graph that one run signature needs.
#ifndef TENSORBRAID_GRAPH_SUBGRAPH_H_
#define TENSORBRAID_GRAPH_SUBGRAPH_H_

#include <memory>
#include <vector>

#include "tensorbraid/graph.h"

namespace tensorbraid {

// Copies what `fetches` and `targets` depend on, up to `feeds`, into a graph of its own. Fed tensors come from _Arg
// nodes, in the order of `feeds`; fetched ones go to _Retval nodes, in the order of `fetches`.
// InvalidArgument when a placeholder that is needed is not fed, naming it.
StatusOr<std::unique_ptr<Graph>> ExtractSubgraph(const Graph& graph, const std::vector<Output>& feeds,
                                                 const std::vector<Output>& fetches,
                                                 const std::vector<Operation>& targets);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_SUBGRAPH_H_
