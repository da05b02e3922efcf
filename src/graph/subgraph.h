// The part of a graph that one run signature needs.
#ifndef TENSORBRAID_GRAPH_SUBGRAPH_H_
#define TENSORBRAID_GRAPH_SUBGRAPH_H_

#include <memory>
#include <utility>
#include <vector>

#include "tensorbraid/graph.h"

namespace tensorbraid {

// Copies what `fetches` and `targets` depend on, up to `feeds`, into a graph of its own. Fed tensors come from _Arg
// nodes, in the order of `feeds`; fetched ones go to _Retval nodes, in the order of `fetches`.
// `connections`: what takes the second of a pair takes the value of the first instead.
// InvalidArgument when a placeholder that is needed is not fed, naming it; when a tensor is fed twice, or connected to
// what depends on it.
StatusOr<std::unique_ptr<Graph>> ExtractSubgraph(const Graph& graph, const std::vector<Output>& feeds,
                                                 const std::vector<Output>& fetches,
                                                 const std::vector<Operation>& targets,
                                                 const std::vector<std::pair<Output, Output>>& connections = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_SUBGRAPH_H_
