// Extracts the part of a graph that one run signature (feeds, fetches and targets) needs.
#ifndef TENSORBRAID_GRAPH_MODEL_SUBGRAPH_H_
#define TENSORBRAID_GRAPH_MODEL_SUBGRAPH_H_

#include <memory>
#include <utility>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Copies the nodes that `fetches` and `targets` depend on into a new graph, without those that are needed only to
// compute `feeds`. Fed tensors come from _Arg nodes, numbered in the order of `feeds`; fetched tensors go to _Retval
// nodes, numbered in the order of `fetches`. For each pair (from, to) in `connections`, the consumers of `to` get the
// value of `from` instead.
//
// If the handle of a VarHandleOp is among the feeds, the variable's value is fed: a _FedVariable takes the place of the
// VarHandleOp, and ReplaceFedVariables (fed_variables.h) must follow.
//
// The state that a DeserializeIterator restores does not contain the dataset of its iterator. So the MakeIterator of
// this iterator is added, and runs before the DeserializeIterator. This requires that the graph has exactly one such
// MakeIterator, with a lower id, and that it needs no placeholder that is not fed.
//
// With FetchedVariables::kRead, a fetch of a variable itself (the handle of a VarHandleOp, or a reference) gives the
// variable's value after all updates of it in this step: so programs print weights that a step has trained. This covers
// the ops that have the variable as a direct input, not those in loops, branches and functions. With kHandle the handle
// itself is fetched.
//
// InvalidArgument if a placeholder that is needed is not fed (the error names it), if a node needs a fed tensor as a
// reference, if a tensor is both fed and connected or connected twice, or if a connection would close a cycle.
enum class FetchedVariables { kHandle, kRead };
StatusOr<std::unique_ptr<Graph>> ExtractSubgraph(const Graph& graph, const std::vector<Output>& feeds,
                                                 const std::vector<Output>& fetches,
                                                 const std::vector<Operation>& targets,
                                                 const std::vector<std::pair<Output, Output>>& connections = {},
                                                 FetchedVariables variables = FetchedVariables::kHandle);

// FailedPrecondition if the node begins an iteration of a loop that the program, maybe on another thread, has not
// finished.
Status CheckLoopFinished(const Node& node);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_SUBGRAPH_H_
