// The gradient of an op as a function that can be given to nodes of other ops.
#ifndef TENSORBRAID_GRAPH_GRADIENTS_OP_GRADIENT_H_
#define TENSORBRAID_GRAPH_GRADIENTS_OP_GRADIENT_H_

#include <string>

#include "tensorbraid/graph/custom_gradient.h"

namespace tensorbraid {

// Returns the gradient of the op `name` for SetGradient, as {"Sign": "Identity"} of TensorFlow's gradient_override_map
// asks for. A gradient of slices becomes dense. An error, such as a node that has other inputs than the op, is added to
// the node's graph. NotFound if there is no such op, or if it has no gradient.
StatusOr<GradientFunction> OpGradient(const std::string& name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_GRADIENTS_OP_GRADIENT_H_
