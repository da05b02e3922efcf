// Nodes that make lists of tensors, or return the shapes of their elements, for gradients.
#ifndef TENSORBRAID_OPS_LIST_LISTS_H_
#define TENSORBRAID_OPS_LIST_LISTS_H_

#include <source_location>

#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

// The shape of the elements of a list, as far as the list knows it.
inline Output ElementShapeOf(Output list) {
  return NodeBuilder(*list.graph(), "TensorListElementShape").Input(list).Attr("shape_type", kInt32).Output();
}

// A list with as many elements as `list`. Its elements are not set, so they are read as zeros of type `dtype`.
inline Output EmptyListLike(Output list, DType dtype) {
  return NodeBuilder(*list.graph(), "TensorListReserve")
      .Input(ElementShapeOf(list))
      .Input(Node1("TensorListLength", list))
      .Attr("element_dtype", dtype)
      .Output();
}

// The shape of the rows of a tensor.
inline Output RowShapeOf(Output tensor) { return StridedSlice(ShapeOf(tensor), {1}, {0}, {1}, {.end_mask = 1}); }

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LIST_LISTS_H_
