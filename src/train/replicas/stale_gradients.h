// Drops or scales the stale gradients of asynchronous replicas, as a StalenessPolicy says.
#ifndef TENSORBRAID_TRAIN_REPLICAS_STALE_GRADIENTS_H_
#define TENSORBRAID_TRAIN_REPLICAS_STALE_GRADIENTS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/model/node.h"
#include "tensorbraid/optimizers/async_replicas.h"
#include "train/replicas/update_gate.h"

namespace tensorbraid {

// The output of a Switch that has `value` if the predicate equals `side`, and is dead otherwise. Invalid, with an error
// in the graph, if no Switch could be added.
Output OnSide(const Output& predicate, bool side, const Output& value);

// The one of `sides` that is not dead.
Output Merged(Graph& g, const std::vector<Output>& sides);

// The gradient with `change` applied to its tensor of values.
template <typename F>
Gradient WithValues(const Gradient& grad, const F& change) {
  if (!grad.is_sparse()) return change(grad.dense());
  IndexedSlices slices = grad.slices();
  slices.values = change(slices.values);
  return slices;
}

// The UpdateClock of a variable, and the version of the variable that a gradient was computed from.
struct Versioned {
  Output clock;
  Output version;
};

// Adds the nodes that drop or scale the gradients of one step. Whether a gradient is dropped is decided in the step, by
// UpdateClock::Admit (runtime/replicas/update_clock.h).
class StaleGradientGate final : public UpdateGate {
 public:
  // Both maps are keyed by the nodes of the handles of variables. `reads` has the values that the step has read; only
  // delay compensation needs them. `self` begins the messages of errors. `policy` must outlive this object.
  StaleGradientGate(std::string self, const StalenessPolicy& policy, std::map<const Node*, Versioned> versions,
                    std::map<const Node*, Output> reads)
      : self_(std::move(self)), policy_(policy), versions_(std::move(versions)), reads_(std::move(reads)) {}

  Admitted Admit(const Gradient& grad, const Variable& variable) override;
  Operation Settle(const Operation& update) override;

  // One int64 scalar for each call of Admit, in the same order: the age of the gradient, or, if the gradient is
  // dropped, -1 minus its age.
  const std::vector<Output>& outcomes() const { return outcomes_; }

 private:
  const std::string self_;
  const StalenessPolicy& policy_;
  const std::map<const Node*, Versioned> versions_;
  const std::map<const Node*, Output> reads_;
  // These belong to the variable whose Admit was called last, until Settle is called.
  Output age_, dropped_, pending_;
  std::vector<Output> outcomes_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_STALE_GRADIENTS_H_
