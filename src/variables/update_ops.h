// Operations that belong to a training step but do not update trained variables, such as the updates of the moving
// averages of batch normalisation.
#ifndef TENSORBRAID_VARIABLES_UPDATE_OPS_H_
#define TENSORBRAID_VARIABLES_UPDATE_OPS_H_

#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// Records that a step whose gradients depend on `of` should run `update`, which changes `variable`. Adds it to the
// collection "update_ops" too.
void AddUpdateOp(const Operation& update, const Variable& variable, const Output& of);

// The recorded updates of a step with these gradients; invalid gradients are ignored. If several updates would change
// the same variable, as in towers that share a layer, only the first is returned, because all of them would run in an
// arbitrary order.
std::vector<Operation> UpdateOpsOf(const Graph& graph, const std::vector<Gradient>& grads);

}  // namespace tensorbraid

#endif  // TENSORBRAID_VARIABLES_UPDATE_OPS_H_
