// The shape of the elements of a list, for shape rules.
#ifndef TENSORBRAID_OPS_LIST_ELEMENT_SHAPE_H_
#define TENSORBRAID_OPS_LIST_ELEMENT_SHAPE_H_

#include <source_location>

#include "graph/model/op_registry.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

// The shape that input i describes. The input is a vector of sizes, or a scalar -1, which stands for an unknown shape.
inline StatusOr<Shape> DescribedShape(ShapeContext& c, int i) {
  const Shape& of_input = c.input(i);
  if (!of_input.has_rank() || of_input.rank() == 0) return Shape::Unknown();
  return c.input_as_shape(i);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LIST_ELEMENT_SHAPE_H_
