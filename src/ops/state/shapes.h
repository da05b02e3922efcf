// Helpers for the shape rules of ops that change parts of variables.
#ifndef TENSORBRAID_OPS_STATE_SHAPES_H_
#define TENSORBRAID_OPS_STATE_SHAPES_H_

#include <source_location>

#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

// The shape of the variable in input 0, which is a handle or a reference.
inline Shape VariableShapeOf(ShapeContext& c) {
  return c.input_dtype(0) == DType::kResource ? c.input_handle_shape(0) : c.input(0);
}

// Gives output 0 the shape of the variable. Only ops that take the variable by reference have an output.
inline void PassVariableShape(ShapeContext& c) {
  if (c.num_outputs() > 0) c.set_output(0, c.input(0));
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_STATE_SHAPES_H_
