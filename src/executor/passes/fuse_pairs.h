// Shared by passes that replace several nodes by one.
#ifndef TENSORBRAID_EXECUTOR_PASSES_FUSE_PAIRS_H_
#define TENSORBRAID_EXECUTOR_PASSES_FUSE_PAIRS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "executor/passes/pass.h"

namespace tensorbraid {

// Calls fuse(first, second) for each pair of pure nodes where input 0 of `second` comes from `first`. If `fuse` returns
// a node, and its op accepts the inputs, the node replaces the pair, under the name of `second`. Leaves out pairs that
// must not change: if `first` has other consumers, if `second` has control inputs, if the nodes are on two devices or
// not on a CPU, or if a result is not float32. Visits the nodes in the order of their ids, so `first` may be a fused
// node.
Status FusePairs(Graph* graph, PassContext& context,
                 absl::FunctionRef<std::optional<NodeSpec>(const Node& first, const Node& second)> fuse);

// For each node, by its id: how many edges leave it, those of control inputs too.
std::vector<int> NumbersOfUses(const Graph& graph);

// A node of type `op` with the inputs and control inputs of `node`, and with those of its attributes that `op` has.
NodeSpec LikeNode(const Node& node, const std::string& op);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_PASSES_FUSE_PAIRS_H_
