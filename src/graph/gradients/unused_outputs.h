// Tells kernels which outputs nothing uses, so that they need not compute them.
#ifndef TENSORBRAID_GRAPH_GRADIENTS_UNUSED_OUTPUTS_H_
#define TENSORBRAID_GRAPH_GRADIENTS_UNUSED_OUTPUTS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/model/node.h"

namespace tensorbraid {

// The attribute with the indices of these outputs. The pass mark_unused_outputs sets it;
// executor/passes/mark_unused_outputs.cc says on which ops.
constexpr char kUnusedOutputsAttr[] = "_unused_outputs";

inline bool IsUnusedOutput(const Node& node, int64_t output) {
  const AttrValue* value = node.FindAttr(kUnusedOutputsAttr);
  const auto* unused = value == nullptr ? nullptr : value->get<std::vector<int64_t>>();
  return unused != nullptr && std::find(unused->begin(), unused->end(), output) != unused->end();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_GRADIENTS_UNUSED_OUTPUTS_H_
