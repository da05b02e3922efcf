// Fuses MaxPoolGrad and the ReluGrad behind it into one node, if the maximum was taken over the output of that Relu.
// This saves one write and one read of a tensor of the size of the image.
#include <optional>

#include "executor/passes/fuse_pairs.h"

namespace tensorbraid {

Status FuseReluGradients(Graph* graph, PassContext& context) {
  return FusePairs(graph, context, [](const Node& first, const Node& second) -> std::optional<NodeSpec> {
    if (first.type() != "MaxPoolGrad" || second.type() != "ReluGrad") return std::nullopt;
    if (first.inputs()[0] != second.inputs()[1]) return std::nullopt;
    return LikeNode(first, "_MaxPoolReluGrad");
  });
}

}  // namespace tensorbraid
