// What the public op functions share: from operands to a node.
#ifndef TENSORBRAID_OPS_OPERANDS_H_
#define TENSORBRAID_OPS_OPERANDS_H_

#include <initializer_list>

#include "tensorbraid/array_ops.h"
#include "tensorbraid/graph.h"

namespace tensorbraid {

// The graph of the first operand that has one. Null when none has: all are constants, or come from a mistake that some
// graph has noted already.
inline Graph* GraphOf(std::initializer_list<const Operand*> operands) {
  for (const Operand* operand : operands) {
    if (Graph* graph = operand->graph()) return graph;
  }
  return nullptr;
}

// The same of lists, whose elements may be constants too.
inline Graph* GraphOf(const std::vector<Operand>& operands) {
  for (const Operand& operand : operands) {
    if (Graph* graph = operand.graph()) return graph;
  }
  return nullptr;
}

// The operands as tensors of one type: numbers take the dtype of the first that brings one.
std::vector<Output> ToOutputs(Graph& graph, const std::vector<Operand>& operands);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_OPERANDS_H_
