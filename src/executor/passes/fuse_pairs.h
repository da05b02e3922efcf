// What passes share that make one node of two.
#ifndef TENSORBRAID_EXECUTOR_PASSES_FUSE_PAIRS_H_
#define TENSORBRAID_EXECUTOR_PASSES_FUSE_PAIRS_H_

#include <functional>
#include <optional>
#include <string>

#include "executor/passes/pass.h"

namespace tensorbraid {

// Calls fuse(first, second) for each pair of pure nodes where `second` takes `first` as its input 0, and replaces the
// pair by the node that it returns, if it returns one and the op accepts its inputs. `second` keeps its name. Pairs
// that must stay as they are, are not offered: a `first` with other consumers, a `second` with control inputs, and
// nodes on two devices or not on a CPU, or with another result than float32. In the order of ids, so `first` may be a
// node that a pair has become.
Status FusePairs(Graph* graph, PassContext& context,
                 const std::function<std::optional<NodeSpec>(const Node& first, const Node& second)>& fuse);

// A node of type `op` with the inputs and control inputs of `node`, and with those of its attributes that `op` has.
NodeSpec LikeNode(const Node& node, const std::string& op);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_PASSES_FUSE_PAIRS_H_
