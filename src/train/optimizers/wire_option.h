// Applies the option `wire` of optimizers.
#ifndef TENSORBRAID_TRAIN_OPTIMIZERS_WIRE_OPTION_H_
#define TENSORBRAID_TRAIN_OPTIMIZERS_WIRE_OPTION_H_

#include <vector>

#include "graph/model/wire_attrs.h"
#include "tensorbraid/optimizers/optimizer.h"

namespace tensorbraid {

// Gives the variables these wire types; kDefault leaves the types that they have. An error is recorded in the graph.
inline void SetWireTypesOfVariables(const std::vector<GradAndVar>& grads, const WireTypes& wire) {
  for (const GradAndVar& g : grads) {
    if (!g.grad.valid() || !g.var.valid()) continue;
    if (const Status valid = CheckWireTypes(wire); !valid.ok()) return g.var.graph()->AddError(valid);
    SetWireTypes(NodeOf(g.var.handle()), wire);
  }
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_OPTIMIZERS_WIRE_OPTION_H_
