// Helpers for the shape rules and gradients of ops on growing tables (runtime/tables).
#ifndef TENSORBRAID_OPS_EMBEDDING_SHAPES_H_
#define TENSORBRAID_OPS_EMBEDDING_SHAPES_H_

#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

// The KvVarHandleOp that a handle comes from, or null if another node made the handle.
inline const Node* TableHandleNode(const Output& handle) {
  const Node* node = NodeOf(handle);
  while (node->type() == "Identity" || node->type() == "Enter" || node->type() == "Switch") {
    node = NodeOf(node->inputs()[0]);
  }
  return node->type() == "KvVarHandleOp" ? node : nullptr;
}

// The shape of one row, [dim], of the table or slot that a handle names; [unknown] if the handle does not tell it.
inline Shape RowShapeOf(const Output& handle) {
  const Node* node = TableHandleNode(handle);
  const Shape shape = node == nullptr ? Shape::Unknown() : node->attr<Shape>("shape");
  return shape.has_rank() && shape.rank() == 1 ? shape : Shape({Shape::kUnknownDim});
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_EMBEDDING_SHAPES_H_
