// Lets AsyncReplicasOptimizer decide, while a step runs, which updates of another optimizer are applied.
#ifndef TENSORBRAID_TRAIN_REPLICAS_UPDATE_GATE_H_
#define TENSORBRAID_TRAIN_REPLICAS_UPDATE_GATE_H_

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// While Optimizer::ApplyGradients builds the graph, it handles one variable after the other: it calls Admit, adds the
// update of the variable, and calls Settle. All nodes are placed with the variable.
class UpdateGate {
 public:
  virtual ~UpdateGate() = default;

  struct Admitted {
    Gradient grad;       // the gradient to apply
    Operation accepted;  // runs only if the gradient is accepted; all nodes of the update depend on it
    Output rate_factor;  // the learning rate is multiplied by it; if it is invalid, the rate stays
  };
  // Adds the nodes that accept or drop the gradient, and that change an accepted one.
  virtual Admitted Admit(const Gradient& grad, const Variable& variable) = 0;
  // Returns an operation that runs after the update, or after the gradient was dropped.
  virtual Operation Settle(const Operation& update) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_UPDATE_GATE_H_
