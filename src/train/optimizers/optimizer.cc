#include "tensorbraid/optimizers/optimizer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <optional>
#include <set>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/optimizers/rules.h"
#include "train/optimizers/update_node.h"
#include "train/optimizers/wire_option.h"
#include "train/replicas/update_gate.h"
#include "train/sessions/train_op.h"
#include "variables/described_initializer.h"
#include "variables/update_ops.h"
#include "variables/variable_scopes.h"

namespace tensorbraid {
namespace {

// Every read of the variable, or of rows of it, in its graph. A loss can depend on the variable only through these.
std::vector<Output> ReadsOf(const Variable& variable) {
  const std::set<std::string_view> kReads = {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "KvResourceGather",
                                             "KvResourceGatherV1"};
  std::vector<Output> reads;
  if (variable.is_reference()) reads.push_back(variable.handle());  // the value itself
  const GraphLock lock(*variable.graph());
  for (const auto& node : ImplOf(*variable.graph()).nodes()) {
    if (kReads.contains(node->type()) && node->inputs()[0] == variable.handle())
      reads.push_back(OutputOf(node.get(), 0));
  }
  return reads;
}

// Finds the node at which the gradient of `loss` stops on its way to `reads`: the first node, going back from the loss,
// that depends on a read through a floating-point input but passes no gradient to this input. Null if there is none.
const Node* FindGradientStop(const Output& loss, const std::vector<Output>& reads) {
  const auto carries = [](DType t) { return IsFloating(t) || IsComplex(t); };
  const GraphLock lock(*loss.graph());
  std::set<const Node*> dependent;  // on a read
  for (const Output& read : reads) dependent.insert(NodeOf(read));
  for (const auto& node : ImplOf(*loss.graph()).nodes()) {  // inputs come before the nodes that use them
    for (const Output& in : node->inputs()) {
      if (in.valid() && dependent.contains(NodeOf(in))) dependent.insert(node.get());
    }
  }
  std::set<const Node*> seen;
  std::deque<const Node*> next = {NodeOf(loss)};
  while (!next.empty()) {
    const Node* node = next.front();
    next.pop_front();
    if (!dependent.contains(node) || !seen.insert(node).second) continue;
    // Whether a gradient can reach the node through one of its outputs.
    const bool gives = std::any_of(node->output_types().begin(), node->output_types().end(),
                                   [&](DType t) { return carries(BaseType(t)); });
    for (const Output& in : node->inputs()) {
      if (!in.valid() || !dependent.contains(NodeOf(in))) continue;
      if (carries(in.dtype()) && (node->op().not_differentiable || !node->op().has_gradient() || !gives)) return node;
      next.push_back(NodeOf(in));
    }
  }
  return nullptr;
}

// The value of a scalar that is known when the graph is built: a constant, also behind Cast and Identity.
std::optional<double> ConstantOf(const Output& scalar) {
  const Node* node = NodeOf(scalar);
  while (node != nullptr && (node->type() == "Cast" || node->type() == "Identity")) node = NodeOf(node->inputs()[0]);
  if (node == nullptr || node->type() != "Const") return std::nullopt;
  const Tensor& value = node->attr<Tensor>("value");
  if (value.num_elements() != 1) return std::nullopt;
  switch (value.dtype()) {
    case DType::kFloat32:
      return value.scalar<float>();
    case DType::kFloat64:
      return value.scalar<double>();
    case DType::kFloat16:
      return static_cast<float>(value.scalar<Float16>());
    case DType::kBfloat16:
      return static_cast<float>(value.scalar<Bfloat16>());
    case DType::kInt32:
      return value.scalar<int32_t>();
    case DType::kInt64:
      return static_cast<double>(value.scalar<int64_t>());
    default:
      return std::nullopt;
  }
}

// Returns the name of a collection for one optimizer: graphs in which it has built updates have this collection. The
// name is unique in this process.
std::string UniqueMark() {
  static std::atomic<uint64_t> optimizers{0};
  return StrCat("_optimizer_", optimizers.fetch_add(1));
}

}  // namespace

Optimizer::Optimizer(std::string name) : name_(std::move(name)), mark_(UniqueMark()) {}

bool Optimizer::Knows(const Graph& graph) const { return !graph.GetCollection(mark_).empty(); }

Operation Optimizer::Minimize(const Output& loss, const MinimizeOptions& options, std::source_location loc) {
  if (!loss.valid()) {
    Graph* graph = options.global_step.graph(loc);
    for (const Variable& v : options.variables) graph = graph == nullptr ? v.graph(loc) : graph;
    // A graph keeps only its first error. So this has no effect if the error that made the loss invalid is recorded
    // already.
    if (graph != nullptr) {
      graph->AddError(InvalidArgument(name_, " (", LocationText(loc),
                                      "): the loss is not valid: it belongs to no graph", TakeLoggedMistake()));
    }
    return {};
  }
  const ScopedLocation at(*loss.graph(loc), loc);
  const auto grads = ComputeGradients(loss, options.variables, loc);
  if (!grads.ok()) {
    loss.graph()->AddError(grads.status());
    return {};
  }
  return ApplyGradients(*grads, {.global_step = options.global_step, .name = options.name, .wire = options.wire}, loc);
}

StatusOr<std::vector<GradAndVar>> Optimizer::ComputeGradients(const Output& loss,
                                                              const std::vector<Variable>& variables,
                                                              std::source_location loc) {
  const std::string self = StrCat(name_, " (", LocationText(loc), ")");
  if (!loss.valid())
    return InvalidArgument(self, ": the loss is not valid (see the graph's status)", TakeLoggedMistake());
  if (const Status exists = NodeOf(loss)->CheckGraphExists(); !exists.ok()) return Annotate(exists, self);
  Graph& graph = *loss.graph();
  const ScopedLocation at(graph, loc);
  TF_RETURN_IF_ERROR(graph.status());
  const std::vector<Variable> vars = variables.empty() ? graph.trainable_variables() : variables;
  if (vars.empty()) return InvalidArgument(self, ": there are no trainable variables to optimise");
  std::vector<Output> handles;
  for (const Variable& v : vars) {
    if (!v.valid() || NodeOf(v.handle())->graph() != &graph) {
      return InvalidArgument(self, ": a variable is invalid or does not belong to the graph of the loss '", loss.name(),
                             "'");
    }
    handles.push_back(v.handle());
  }
  TF_ASSIGN_OR_RETURN(const std::vector<Gradient> grads, SparseGradients({loss}, handles, {}, {}, loc));
  std::vector<GradAndVar> result;
  bool any = false;
  for (size_t i = 0; i < vars.size(); ++i) {
    any = any || grads[i].valid();
    result.push_back({grads[i], vars[i]});
  }
  TF_RETURN_IF_ERROR(graph.status());
  if (!any) {
    std::vector<std::string> names;
    std::vector<Output> reads;
    for (const Variable& v : vars) {
      names.push_back(v.name());
      const auto of_v = ReadsOf(v);
      reads.insert(reads.end(), of_v.begin(), of_v.end());
    }
    if (const Node* stop = FindGradientStop(loss, reads); stop != nullptr) {
      return InvalidArgument(self, ": the loss '", loss.name(), "' gives no gradient to the variables ",
                             StrJoin(names, ", "), ": ", stop->Describe(),
                             ", through which it depends on them, is not differentiable; compute the loss without it");
    }
    return InvalidArgument(self, ": the loss '", loss.name(), "' depends on none of the variables ",
                           StrJoin(names, ", "));
  }
  return result;
}

namespace {

// Returns the gradient with each row once. Rows are summed on the device of the gradient, so that each row is sent to
// the variable's device only once.
Gradient SumsOfRows(const Gradient& grad) {
  if (!grad.is_sparse()) return grad;
  auto device = grad.graph()->ColocateWith(grad.slices().values.op());
  return grad.WithDistinctRows();
}

}  // namespace

Status Optimizer::CheckTable(const GradAndVar& g, const std::source_location& loc) const {
  if (g.var.table() == nullptr || !g.grad.valid()) return OkStatus();
  const std::string self = StrCat(name_, " (", LocationText(ImplOf(*g.var.graph()).UserLine(loc)),
                                  "): the growing table '", g.var.name(), "'");
  if (!UpdatesTables()) {
    return Unimplemented(
        self, " cannot be trained with this optimizer, whose rule has no form for rows of tables: use ",
        "AdagradOptimizer, AdamAsyncOptimizer, AdamOptimizer, GradientDescentOptimizer or another one ",
        "of those that docs/recommenders.md lists");
  }
  if (!g.grad.is_sparse()) {
    return InvalidArgument(
        self, " has a dense gradient, '", g.grad.dense().name(), "', but only the rows of some keys ",
        "can be updated: keep the gradient as slices, and look the rows up with nn::EmbeddingLookup");
  }
  return OkStatus();
}

Operation Optimizer::ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options,
                                    std::source_location loc) {
  Graph* graph = nullptr;
  for (const GradAndVar& g : grads) {
    if (g.var.valid()) graph = g.var.graph(loc);
  }
  for (const GradAndVar& g : grads) {
    if (!g.grad.valid() || g.var.valid()) continue;
    const Output tensor = g.grad.is_sparse() ? g.grad.slices().values : g.grad.dense();
    tensor.graph(loc)->AddError(
        InvalidArgument(name_, ": the variable of gradient '", tensor.name(), "' is not valid"));
    return {};
  }
  if (grads.empty()) LogMistake(name_, loc, "there are no gradients to apply");
  if (graph == nullptr) return {};
  if (!graph->status().ok()) return {};
  const ScopedLocation at(*graph, loc);
  for (const GradAndVar& g : grads) {
    if (const Status updatable = CheckTable(g, loc); !updatable.ok()) return graph->AddError(updatable), Operation();
  }
  SetWireTypesOfVariables(grads, options.wire);
  hypers_.clear();
  state_scope_ = outer_scope_ != nullptr ? *outer_scope_ : ImplOf(*graph).name_scope();
  std::vector<Variable> updated_variables;
  for (const GradAndVar& g : grads) {
    if (g.grad.valid()) updated_variables.push_back(g.var);
  }
  if (!updated_variables.empty()) {
    EnterGraph(updated_variables[0]);
    CreateAllSlots(updated_variables);
  }
  std::vector<Operation> updates;
  std::string train_name;  // the scope's name, as in TensorFlow
  Operation updated;
  {
    auto scope = graph->NameScope(options.name.empty() ? name_ : options.name);
    train_name = ImplOf(*graph).name_scope() + "/";
    Prepare(*graph);
    for (const GradAndVar& g : grads) {
      if (!g.grad.valid()) continue;
      auto name = graph->NameScope("update_" + g.var.name());
      const Gradient grad = NeedsDistinctRows() ? SumsOfRows(g.grad) : g.grad;
      auto device = graph->ColocateWith(g.var.handle().op());
      if (gate_ == nullptr) {
        updates.push_back(Apply(grad, g.var));
        continue;
      }
      const UpdateGate::Admitted admitted = gate_->Admit(grad, g.var);
      if (!graph->status().ok()) return {};
      Operation update;
      {
        auto if_accepted = graph->ControlDependencies({admitted.accepted});
        rate_factor_ = admitted.rate_factor;
        update = Apply(admitted.grad, g.var);
        rate_factor_ = Output();
      }
      updates.push_back(gate_->Settle(update));
    }
    if (!updates.empty()) {
      auto after = graph->ControlDependencies(updates);
      const std::vector<Operation> more = Finish();
      updates.insert(updates.end(), more.begin(), more.end());
      std::vector<Gradient> values;
      for (const GradAndVar& g : grads) values.push_back(g.grad);
      const std::vector<Operation> averages = UpdateOpsOf(*graph, values);
      updates.insert(updates.end(), averages.begin(), averages.end());
    }
    if (options.global_step.valid() && !updates.empty()) updated = Group(*graph, updates, "update");
  }
  if (updates.empty()) {
    graph->AddError(InvalidArgument(name_, " (", LocationText(ImplOf(*graph).UserLine(loc)),
                                    "): no variable has a gradient to apply"));
    return {};
  }
  if (!options.global_step.valid()) {
    const Operation train = Group(*graph, updates, train_name);
    RegisterTrainOpWithoutStep(train);
    return train;
  }
  const Variable& step = options.global_step;
  // The increment of the global step is the training operation. It runs last, on the step's device, so no further value
  // has to be sent to a worker.
  auto device = graph->ColocateWith(step.handle().op());
  const Output one = Operand(1).ToOutput(*graph, step.dtype());
  const Operation train = NodeBuilder(*graph, OpOnVariable(step, "AssignAddVariableOp"))
                              .Name(train_name)
                              .Input(step.handle())
                              .Input(one)
                              .Control(updated)
                              .Finish();
  // With a gate (update_gate.h), this operation may not run in every step. Then the optimizer that has set the gate
  // registers its own training operation.
  if (gate_ == nullptr) RegisterTrainOp(train, step);
  return train;
}

Variable Optimizer::GetSlot(const Variable& variable, const std::string& slot) const {
  if (!variable.valid() || !Knows(*variable.graph())) return {};
  const auto it = slots_.find({NodeOf(variable.handle()), slot});
  return it == slots_.end() ? Variable() : it->second;
}

std::vector<std::string> Optimizer::GetSlotNames() const {
  std::set<std::string> names;
  for (const auto& [key, variable] : slots_) names.insert(key.second);
  return {names.begin(), names.end()};
}

void Optimizer::EnterGraph(const Variable& variable) {
  Graph& graph = *variable.graph();
  if (Knows(graph)) return;
  slots_.clear();
  shared_.clear();
  hypers_.clear();
  graph.AddToCollection(mark_, variable.handle());
}

void Optimizer::CreateAllSlots(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) CreateSlots(variable);
}

Variable Optimizer::MakeSlot(const Variable& variable, const std::string& slot, const Initializer& initializer,
                             const SlotOptions& options) {
  EnterGraph(variable);
  Variable& made = slots_[{NodeOf(variable.handle()), slot}];
  if (!made.valid()) {
    Graph& graph = *variable.graph();
    auto top = graph.NameScope("");
    auto device = graph.ColocateWith(variable.handle().op());
    const Shape shape = options.shape.value_or(variable.shape());
    const std::string name = variable.name() + "/" + (options.name.empty() ? name_ : options.name);
    VariableOptions made_with = {.name = InVariableScope(graph, name),
                                 .dtype = options.dtype == DType::kInvalid ? variable.dtype() : options.dtype,
                                 .trainable = false,
                                 .reference = variable.is_reference()};
    // One number for each row, as in RowwiseAdagradOptimizer.
    const bool one_per_row =
        shape.rank() == 2 && variable.shape().rank() > 0 && shape == Shape({variable.shape().dim(0), 1});
    if (variable.table() != nullptr && (one_per_row || shape == variable.shape())) {
      const auto initial = DescriptionOf(initializer, shape);
      if (!initial || initial->kind != InitialRows::Kind::kConstant) {
        graph.AddError(Unimplemented(name_, ": the slot '", slot, "' of the growing table '", variable.name(),
                                     "' must begin with one number in all rows (Zeros or Constant)"));
        return {};
      }
      // The names of slots begin with that of the table, whatever variable scope is open: so checkpoints name them.
      const std::string unique = ImplOf(graph).UniqueName(name);
      made_with.name = unique + "/";
      made_with.table = *variable.table();
      made_with.table->whole += "/" + unique.substr(variable.name().size() + 1);
      made_with.table->initial_rows = *initial;
      made_with.table->slot_of = variable.name();
    }
    if (const VariablePart* part = variable.part_of(); part != nullptr && (one_per_row || shape == variable.shape())) {
      // The slots of all parts are saved as one tensor, too. TensorFlow takes as many characters as the variable's name
      // has from the slot's name, although an open variable scope has put its own name before it. So
      // "dnn/kernel/part_0" and its slot "dnn/dnn/kernel/part_0/Adagrad" make "dnn/kernel/t_0/Adagrad".
      const std::string unique = ImplOf(graph).UniqueName(made_with.name);
      made_with.name = unique + "/";
      made_with.part_of = *part;
      if (one_per_row) made_with.part_of->shape = Shape({part->shape.dim(0), 1});
      made_with.part_of->whole += "/" + unique.substr(variable.name().size() + 1);
    }
    made = Variable(graph, shape, initializer, made_with);
  }
  return made;
}

Variable Optimizer::MakeShared(const Variable& first, const std::string& name, double value) {
  EnterGraph(first);
  Variable& made = shared_[name];
  if (!made.valid()) {
    Graph& graph = *first.graph();
    auto outside = graph.NameScope(state_scope_.empty() ? "" : state_scope_ + "/");
    auto device = graph.ColocateWith(first.handle().op());
    made = Variable(graph, {}, Constant(value), {.name = name, .dtype = first.dtype(), .trainable = false});
  }
  return made;
}

Output Optimizer::Hyper(const Operand& value, const Variable& variable) {
  Graph& graph = *variable.graph();
  Output& made = hypers_[{&value, variable.handle().op().device(), variable.dtype()}];
  if (made.valid()) return made;
  // The updates of several variables share this tensor. So it is outside their name scopes, and does not depend on
  // whether one of the updates runs.
  auto top = graph.NameScope(name_ + "/");
  auto no_dependencies = graph.ControlDependencies(std::vector<Operation>());
  auto device = graph.ColocateWith(variable.handle().op());
  made = value.ToOutput(graph, variable.dtype());
  if (made.valid() && made.dtype() != variable.dtype()) {
    made = NodeBuilder(graph, "Cast").Input(made).Attr("DstT", variable.dtype()).Output();
  }
  return made;
}

Output Optimizer::LearningRate(const Operand& value, const Variable& variable) {
  const Output rate = Hyper(value, variable);
  if (const auto number = ConstantOf(rate); number && !(std::isfinite(*number) && *number >= 0)) {
    Graph& graph = *variable.graph();
    graph.AddError(InvalidArgument(name_, " (", LocationText(ImplOf(graph).UserLine(value.location())),
                                   "): the learning rate is ", *number,
                                   "; it must be a finite number that is not negative"));
    return {};
  }
  if (!rate_factor_.valid() || !rate.valid()) return rate;
  return NodeBuilder(*variable.graph(), "Mul").Input(rate).Input(rate_factor_).Output();
}

Operation GradientDescentOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  const Output rate = LearningRate(learning_rate_, variable);
  if (variable.table() != nullptr) {
    NodeBuilder node = UpdateNode(variable, "ApplyGradientDescent", grad);
    InputGradient(node.Input(rate), grad);
    return InputStepAndCounts(node, grad, variable).Attr("use_locking", use_locking_).Finish();
  }
  if (!grad.is_sparse()) {
    return UpdateNode(variable, "ApplyGradientDescent", grad)
        .Input(rate)
        .Input(grad.dense())
        .Attr("use_locking", use_locking_)
        .Finish();
  }
  Graph& graph = *variable.graph();
  const Output delta = NodeBuilder(graph, "Mul").Input(grad.slices().values).Input(rate).Output();
  return NodeBuilder(graph, OpOnVariable(variable, "ResourceScatterSub"))
      .Input(variable.handle())
      .Input(grad.slices().indices)
      .Input(delta)
      .Finish();
}

void MomentumOptimizer::CreateSlots(const Variable& variable) { MakeSlot(variable, "momentum", Zeros()); }

Operation MomentumOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  NodeBuilder node = UpdateNode(variable, "ApplyMomentum", grad);
  node.Input(GetSlot(variable, "momentum").handle()).Input(LearningRate(learning_rate_, variable));
  InputGradient(node, grad).Input(Hyper(momentum_, variable));
  return InputStepAndCounts(node, grad, variable)
      .Attr("use_locking", options_.use_locking)
      .Attr("use_nesterov", options_.use_nesterov)
      .Finish();
}

void AdadeltaOptimizer::CreateSlots(const Variable& variable) {
  MakeSlot(variable, "accum", Zeros());
  MakeSlot(variable, "accum_update", Zeros());
}

Operation AdadeltaOptimizer::Apply(const Gradient& grad, const Variable& variable) {
  NodeBuilder node = UpdateNode(variable, "ApplyAdadelta", grad);
  node.Input(GetSlot(variable, "accum").handle())
      .Input(GetSlot(variable, "accum_update").handle())
      .Input(LearningRate(learning_rate_, variable))
      .Input(Hyper(rho_, variable))
      .Input(Hyper(epsilon_, variable));
  InputGradient(node, grad);
  return InputStepAndCounts(node, grad, variable).Attr("use_locking", use_locking_).Finish();
}

namespace {

// Chooses a device for the nodes from number `first` on, which compute the mean of the towers' gradients of a variable,
// if the open scopes have left its type open. Beside the variable, each gradient is copied at most once. Before the
// mean is sent to another task, it is on the host. If the variable requests no device, the placer keeps them together.
void PlaceMean(Graph& graph, size_t first, const Variable& variable) {
  const auto& nodes = ImplOf(graph).nodes();
  const auto there = DeviceName::Parse(NodeOf(variable.handle())->device());
  if (!there.ok()) return;
  for (size_t i = first; i < nodes.size(); ++i) {
    const auto open = DeviceName::Parse(nodes[i]->device());
    if (!open.ok() || open->type.has_value()) continue;
    const bool is_elsewhere = (open->job && there->job && open->job != there->job) ||
                              (open->task && there->task && open->task != there->task);
    DeviceName device = *open;
    device.type = is_elsewhere ? "CPU" : there->type;
    device.id = is_elsewhere ? 0 : there->id;
    nodes[i]->set_device(device.ToString());
  }
}

}  // namespace

std::vector<GradAndVar> AverageGradients(const std::vector<std::vector<GradAndVar>>& tower_grads,
                                         std::source_location loc) {
  std::vector<GradAndVar> result;
  if (tower_grads.empty()) return result;
  for (size_t i = 0; i < tower_grads[0].size(); ++i) {
    const Variable& var = tower_grads[0][i].var;
    if (!var.valid()) continue;
    Graph& graph = *var.graph(loc);
    const ScopedLocation at(graph, loc);
    std::vector<Gradient> grads;
    size_t listed = 0;
    for (const auto& tower : tower_grads) {
      if (i >= tower.size() || !(tower[i].var == var)) {
        graph.AddError(InvalidArgument("AverageGradients (", LocationText(loc), "): tower ", listed,
                                       " has no gradient for variable '", var.name(), "' at position ", i,
                                       "; all towers must list the same variables"));
        return {};
      }
      if (tower[i].grad.valid()) grads.push_back(tower[i].grad);
      ++listed;
    }
    Gradient mean;
    if (!grads.empty()) {
      auto scope = graph.NameScope("average_" + var.name());
      const size_t first = ImplOf(graph).nodes().size();
      mean = SumOfGradients(grads, loc);
      if (tower_grads.size() > 1) {
        const Output count = Operand(static_cast<int64_t>(tower_grads.size())).ToOutput(graph, var.dtype());
        const auto divided = [&](const Output& sum) {
          return NodeBuilder(graph, "RealDiv").Input(sum).Input(count).Output();
        };
        if (mean.is_sparse()) {
          IndexedSlices slices = mean.slices();
          slices.values = divided(slices.values);
          mean = slices;
        } else {
          mean = divided(mean.dense());
        }
        PlaceMean(graph, first, var);
      }
    }
    result.push_back({mean, var});
  }
  return result;
}

}  // namespace tensorbraid
