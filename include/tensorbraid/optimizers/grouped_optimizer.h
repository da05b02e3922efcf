// Training groups of variables with different optimizers.
#ifndef TENSORBRAID_OPTIMIZERS_GROUPED_OPTIMIZER_H_
#define TENSORBRAID_OPTIMIZERS_GROUPED_OPTIMIZER_H_

#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/optimizers/sync_replicas.h"

namespace tensorbraid {

// An optimizer and the variables that it updates.
struct OptimizerGroup {
  std::shared_ptr<Optimizer> optimizer;
  std::vector<Variable> variables;
};

// Trains groups of variables with an optimizer each, in one step: for example the linear part of a model with Ftrl and
// the deep part with Adagrad, or layers with different learning rates. `rest` updates the variables that are in no
// group; without it, a gradient for such a variable is a mistake. SyncReplicasOptimizer and AsyncReplicasOptimizer can
// wrap it.
//
//   GroupedOptimizer optimizer({{ftrl, linear_weights}}, /*rest=*/adagrad);
//   auto train = optimizer.Minimize(loss, {.global_step = global_step});
class GroupedOptimizer final : public Optimizer {
 public:
  explicit GroupedOptimizer(std::vector<OptimizerGroup> groups, std::shared_ptr<Optimizer> rest = nullptr,
                            std::string name = "GroupedOptimizer");

  Operation ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options = {},
                           std::source_location loc = std::source_location::current()) override;
  Variable GetSlot(const Variable& variable, const std::string& slot) const override;
  std::vector<std::string> GetSlotNames() const override;

 private:
  Operation Apply(const Gradient& grad, const Variable& variable) override;

  std::vector<OptimizerGroup> groups_;  // the last is the rest, if there is one
  bool has_rest_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZERS_GROUPED_OPTIMIZER_H_
