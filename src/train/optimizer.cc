#include "tensorbraid/optimizer.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "core/strings.h"
#include "graph/node.h"
#include "tensorbraid/array_ops.h"
#include "train/train_op.h"

namespace tensorbraid {
namespace {

// Every read of the variable in its graph: what a loss can depend on it through.
std::vector<Output> ReadsOf(const Variable& variable) {
  std::vector<Output> reads;
  for (const auto& node : variable.graph()->impl().nodes()) {
    if (node->type() == "ReadVariableOp" && node->inputs()[0] == variable.handle()) reads.emplace_back(node.get(), 0);
  }
  return reads;
}

// Of this process: no two optimizers have the same.
std::string UniqueMark() {
  static std::atomic<uint64_t> optimizers{0};
  return StrCat("_optimizer_", optimizers.fetch_add(1));
}

}  // namespace

Optimizer::Optimizer(std::string name) : name_(std::move(name)), mark_(UniqueMark()) {}

bool Optimizer::Knows(const Graph& graph) const { return !graph.GetCollection(mark_).empty(); }

Operation Optimizer::Minimize(const Output& loss, const MinimizeOptions& options) {
  if (!loss.valid()) return {};  // the graph knows why
  const auto grads = ComputeGradients(loss, options.variables);
  if (!grads.ok()) {
    loss.graph()->AddError(grads.status());
    return {};
  }
  return ApplyGradients(*grads, {.global_step = options.global_step, .name = options.name});
}

StatusOr<std::vector<GradAndVar>> Optimizer::ComputeGradients(const Output& loss,
                                                              const std::vector<Variable>& variables) {
  if (!loss.valid()) return InvalidArgument(name_, ": the loss is not valid (see the graph's status)");
  Graph& graph = *loss.graph();
  TF_RETURN_IF_ERROR(graph.status());
  const std::vector<Variable> vars = variables.empty() ? graph.trainable_variables() : variables;
  if (vars.empty()) return InvalidArgument(name_, ": there are no trainable variables to optimise");
  std::vector<Output> reads;
  std::vector<size_t> ends;  // reads of vars[i] end here
  for (const Variable& v : vars) {
    if (!v.valid() || v.graph() != &graph) {
      return InvalidArgument(name_, ": a variable is not of the graph of the loss '", loss.name(), "'");
    }
    const auto of_v = ReadsOf(v);
    reads.insert(reads.end(), of_v.begin(), of_v.end());
    ends.push_back(reads.size());
  }
  std::vector<Output> read_grads;
  if (!reads.empty()) {
    TF_ASSIGN_OR_RETURN(read_grads, Gradients({loss}, reads));
  }
  std::vector<GradAndVar> result;
  bool any = false;
  for (size_t i = 0, read = 0; i < vars.size(); ++i) {
    std::vector<Output> terms;
    for (; read < ends[i]; ++read) {
      if (read_grads[read].valid()) terms.push_back(read_grads[read]);
    }
    Output grad;
    if (terms.size() == 1) grad = terms[0];
    if (terms.size() > 1) {
      grad = NodeBuilder(graph, "AddN").InputList(terms).ColocateWith(terms[0].op()).Output();
    }
    any = any || grad.valid();
    result.push_back({grad, vars[i]});
  }
  TF_RETURN_IF_ERROR(graph.status());
  if (!any) {
    std::vector<std::string> names;
    for (const Variable& v : vars) names.push_back(v.name());
    return InvalidArgument(name_, ": the loss '", loss.name(), "' depends on none of the variables ",
                           StrJoin(names, ", "));
  }
  return result;
}

Operation Optimizer::ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options) {
  Graph* graph = nullptr;
  for (const GradAndVar& g : grads) {
    if (g.var.valid()) graph = g.var.graph();
  }
  if (graph == nullptr) return {};
  if (!graph->status().ok()) return {};
  hypers_.clear();
  if (!Knows(*graph)) {
    slots_.clear();
    shared_.clear();
  }
  std::vector<Operation> updates;
  std::string train_name;  // that of the scope, as TensorFlow names it
  Operation updated;
  {
    auto scope = graph->NameScope(options.name.empty() ? name_ : options.name);
    train_name = graph->impl().name_scope() + "/";
    for (const GradAndVar& g : grads) {
      if (!g.grad.valid()) continue;
      if (!Knows(*graph)) graph->AddToCollection(mark_, g.var.handle());
      CreateSlots(g.var);
      auto name = graph->NameScope("update_" + g.var.name());
      auto device = graph->ColocateWith(g.var.handle().op());
      updates.push_back(ApplyDense(g.grad, g.var));
    }
    if (!updates.empty()) {
      auto after = graph->ControlDependencies(updates);
      const std::vector<Operation> more = Finish();
      updates.insert(updates.end(), more.begin(), more.end());
    }
    if (options.global_step.valid() && !updates.empty()) updated = Group(*graph, updates, "update");
  }
  if (updates.empty()) {
    graph->AddError(InvalidArgument(name_, ": no variable has a gradient to apply"));
    return {};
  }
  if (!options.global_step.valid()) {
    return Group(*graph, updates, train_name);
  }
  const Variable& step = options.global_step;
  // The step itself is the training operation: it runs last, where it lies, and nothing more has to cross to a worker.
  auto device = graph->ColocateWith(step.handle().op());
  const Output one = Operand(1).ToOutput(*graph, step.dtype());
  const Operation train = NodeBuilder(*graph, "AssignAddVariableOp")
                              .Name(train_name)
                              .Input(step.handle())
                              .Input(one)
                              .Control(updated)
                              .Finish();
  RegisterTrainOp(train, step);
  return train;
}

Variable Optimizer::GetSlot(const Variable& variable, const std::string& slot) const {
  if (!variable.valid() || !Knows(*variable.graph())) return {};
  const auto it = slots_.find({variable.handle().node(), slot});
  return it == slots_.end() ? Variable() : it->second;
}

std::vector<std::string> Optimizer::GetSlotNames() const {
  std::set<std::string> names;
  for (const auto& [key, variable] : slots_) names.insert(key.second);
  return {names.begin(), names.end()};
}

Variable Optimizer::MakeSlot(const Variable& variable, const std::string& slot, const Initializer& initializer) {
  Variable& made = slots_[{variable.handle().node(), slot}];
  if (!made.valid()) {
    Graph& graph = *variable.graph();
    auto top = graph.NameScope("");
    auto device = graph.ColocateWith(variable.handle().op());
    made = Variable(graph, variable.shape(), initializer,
                    {.name = variable.name() + "/" + name_, .dtype = variable.dtype(), .trainable = false});
  }
  return made;
}

Variable Optimizer::MakeShared(const Variable& first, const std::string& name, double value) {
  Variable& made = shared_[name];
  if (!made.valid()) {
    Graph& graph = *first.graph();
    auto top = graph.NameScope("");
    auto device = graph.ColocateWith(first.handle().op());
    made = Variable(graph, {}, Constant(value), {.name = name, .dtype = first.dtype(), .trainable = false});
  }
  return made;
}

Output Optimizer::Hyper(const Operand& value, const Variable& variable) {
  Graph& graph = *variable.graph();
  Output& made = hypers_[{&value, variable.handle().op().device(), variable.dtype()}];
  if (made.valid()) return made;
  // Steps of several variables share it, so it stands outside of the scopes of any.
  auto top = graph.NameScope(name_ + "/");
  auto device = graph.ColocateWith(variable.handle().op());
  made = value.ToOutput(graph, variable.dtype());
  if (made.valid() && made.dtype() != variable.dtype()) {
    made = NodeBuilder(graph, "Cast").Input(made).Attr("DstT", variable.dtype()).Output();
  }
  return made;
}

Operation GradientDescentOptimizer::ApplyDense(const Output& grad, const Variable& variable) {
  return NodeBuilder(*variable.graph(), "ResourceApplyGradientDescent")
      .Input(variable.handle())
      .Input(Hyper(learning_rate_, variable))
      .Input(grad)
      .Attr("use_locking", use_locking_)
      .Finish();
}

void MomentumOptimizer::CreateSlots(const Variable& variable) { MakeSlot(variable, "momentum", Zeros()); }

Operation MomentumOptimizer::ApplyDense(const Output& grad, const Variable& variable) {
  return NodeBuilder(*variable.graph(), "ResourceApplyMomentum")
      .Input(variable.handle())
      .Input(GetSlot(variable, "momentum").handle())
      .Input(Hyper(learning_rate_, variable))
      .Input(grad)
      .Input(Hyper(momentum_, variable))
      .Attr("use_locking", options_.use_locking)
      .Attr("use_nesterov", options_.use_nesterov)
      .Finish();
}

void AdadeltaOptimizer::CreateSlots(const Variable& variable) {
  MakeSlot(variable, "accum", Zeros());
  MakeSlot(variable, "accum_update", Zeros());
}

Operation AdadeltaOptimizer::ApplyDense(const Output& grad, const Variable& variable) {
  return NodeBuilder(*variable.graph(), "ResourceApplyAdadelta")
      .Input(variable.handle())
      .Input(GetSlot(variable, "accum").handle())
      .Input(GetSlot(variable, "accum_update").handle())
      .Input(Hyper(learning_rate_, variable))
      .Input(Hyper(rho_, variable))
      .Input(Hyper(epsilon_, variable))
      .Input(grad)
      .Attr("use_locking", use_locking_)
      .Finish();
}

std::vector<GradAndVar> AverageGradients(const std::vector<std::vector<GradAndVar>>& tower_grads) {
  std::vector<GradAndVar> result;
  if (tower_grads.empty()) return result;
  for (size_t i = 0; i < tower_grads[0].size(); ++i) {
    const Variable& var = tower_grads[0][i].var;
    if (!var.valid()) continue;
    Graph& graph = *var.graph();
    std::vector<Output> grads;
    for (const auto& tower : tower_grads) {
      if (i >= tower.size() || !(tower[i].var == var)) {
        graph.AddError(InvalidArgument("AverageGradients: tower ", grads.size(), " has no gradient for variable '",
                                       var.name(), "' at place ", i, "; all towers must list the same variables"));
        return {};
      }
      if (tower[i].grad.valid()) grads.push_back(tower[i].grad);
    }
    Output mean;
    if (!grads.empty()) {
      mean = grads[0];
      if (grads.size() > 1) {
        auto scope = graph.NameScope("average_" + var.name());
        const Output count = Operand(static_cast<int64_t>(tower_grads.size())).ToOutput(graph, var.dtype());
        const Output sum = NodeBuilder(graph, "AddN").InputList(std::move(grads)).Output();
        mean = NodeBuilder(graph, "RealDiv").Input(sum).Input(count).Output();
      }
    }
    result.push_back({mean, var});
  }
  return result;
}

}  // namespace tensorbraid
