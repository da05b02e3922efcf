#include "tensorbraid/optimizers/grouped_optimizer.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/ops/array.h"
#include "train/optimizers/wire_option.h"
#include "train/sessions/train_op.h"

namespace tensorbraid {

GroupedOptimizer::GroupedOptimizer(std::vector<OptimizerGroup> groups, std::shared_ptr<Optimizer> rest,
                                   std::string name)
    : Optimizer(std::move(name)), groups_(std::move(groups)), has_rest_(rest != nullptr) {
  if (has_rest_) groups_.push_back({std::move(rest), {}});
}

Operation GroupedOptimizer::ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options,
                                           std::source_location loc) {
  const auto first = std::ranges::find_if(grads, [](const GradAndVar& g) { return g.var.valid(); });
  if (first == grads.end()) return {};
  Graph& g = *first->var.graph(loc);
  if (!g.status().ok()) return {};
  const ScopedLocation at(g, loc);
  const auto mistake = [&](const auto&... text) {
    g.AddError(InvalidArgument(name(), " (", LocationText(ImplOf(g).UserLine(loc)), "): ", text...));
    return Operation();
  };
  const size_t chosen = groups_.size() - (has_rest_ ? 1 : 0);
  // The group of each variable, keyed by the variable's handle.
  std::map<const Node*, size_t> group_of;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].optimizer == nullptr) return mistake("group ", i, " has no optimizer");
    for (const Variable& v : groups_[i].variables) {
      if (!v.valid() || NodeOf(v.handle())->graph() != &g)
        return mistake("a variable of group ", i, " is not of the graph");
      const auto [it, added] = group_of.emplace(NodeOf(v.handle()), i);
      if (!added) return mistake("variable '", v.name(), "' is in the groups ", it->second, " and ", i);
    }
  }
  std::vector<std::vector<GradAndVar>> grads_of(groups_.size());
  std::vector<bool> trains(groups_.size());
  for (const GradAndVar& grad : grads) {
    if (!grad.var.valid()) continue;
    const auto known = group_of.find(NodeOf(grad.var.handle()));
    if (known == group_of.end() && !has_rest_) {
      if (!grad.grad.valid()) continue;
      return mistake("variable '", grad.var.name(), "' is in no group: add it to one, or give an optimizer as `rest`");
    }
    const size_t group = known == group_of.end() ? chosen : known->second;
    grads_of[group].push_back(grad);
    trains[group] = trains[group] || grad.grad.valid();
  }
  std::vector<Operation> updates;
  Operation train;
  const std::string outer = outer_scope_ != nullptr ? *outer_scope_ : ImplOf(g).name_scope();
  {
    auto scope = g.NameScope(options.name.empty() ? name() : options.name);
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (!trains[i]) continue;
      Optimizer& optimizer = *groups_[i].optimizer;
      optimizer.gate_ = gate_;
      optimizer.outer_scope_ = &outer;
      updates.push_back(optimizer.ApplyGradients(grads_of[i], {.wire = options.wire}, loc));
      optimizer.gate_ = nullptr;
      optimizer.outer_scope_ = nullptr;
      if (!updates.back().valid()) return {};
    }
    if (updates.empty()) return mistake("no variable has a gradient to apply");
    if (!options.global_step.valid()) return Group(g, updates, "train");
    auto after = g.ControlDependencies(updates);
    train = options.global_step.AssignAdd(1);
  }
  // With a gate (train/replicas/update_gate.h), the optimizer that has set it registers its own training operation.
  if (train.valid() && gate_ == nullptr) RegisterTrainOp(train, options.global_step);
  return train;
}

Variable GroupedOptimizer::GetSlot(const Variable& variable, const std::string& slot) const {
  for (const OptimizerGroup& group : groups_) {
    if (const Variable found = group.optimizer->GetSlot(variable, slot); found.valid()) return found;
  }
  return {};
}

std::vector<std::string> GroupedOptimizer::GetSlotNames() const {
  std::set<std::string> names;
  for (const OptimizerGroup& group : groups_) {
    for (std::string& name : group.optimizer->GetSlotNames()) names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

// Never called: ApplyGradients uses the optimizers of the groups to update the variables.
Operation GroupedOptimizer::Apply(const Gradient&, const Variable&) { return {}; }

}  // namespace tensorbraid
