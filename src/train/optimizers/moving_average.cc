#include "tensorbraid/optimizers/moving_average.h"

#include <set>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "variables/variable_scopes.h"

namespace tensorbraid {
namespace {

constexpr char kAveragedVariables[] = "moving_average_variables";  // a collection, as in TensorFlow

}  // namespace

ExponentialMovingAverage::ExponentialMovingAverage(Operand decay, MovingAverageOptions options)
    : decay_(std::move(decay)), options_(std::move(options)) {}

Operation ExponentialMovingAverage::Apply(const std::vector<Variable>& variables, std::source_location loc) {
  std::vector<Averaged> all;
  for (const Variable& v : variables) all.push_back({v.handle(), v});
  return ApplyAll(all, loc);
}

Operation ExponentialMovingAverage::Apply(const std::vector<Output>& tensors, std::source_location loc) {
  std::vector<Averaged> all;
  for (const Output& tensor : tensors) all.push_back({tensor, {}});
  return ApplyAll(all, loc);
}

Operation ExponentialMovingAverage::ApplyAll(const std::vector<Averaged>& all, const std::source_location& loc) {
  Graph* graph = nullptr;
  for (const Averaged& a : all) graph = graph == nullptr ? a.key.graph(loc) : graph;
  if (all.empty()) LogMistake("ExponentialMovingAverage", loc, kEmptyList);
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, loc);
  for (const Averaged& a : all) {
    const DType dtype = a.variable.valid() ? a.variable.dtype() : a.key.dtype();
    const Shape& shape = a.variable.valid() ? a.variable.shape() : a.key.shape();
    if (!a.key.valid() || NodeOf(a.key)->graph() != graph || !IsFloating(dtype) || !shape.is_fully_defined()) {
      graph->AddError(
          InvalidArgument("ExponentialMovingAverage (", LocationText(ImplOf(*graph).UserLine(loc)),
                          "): cannot average '", a.key.name(), "' of dtype ", dtype, " and shape ", shape,
                          "; expected a floating-point variable or tensor of a fully known shape, all of one graph"));
      return {};
    }
    if (Find(a.key) == nullptr && !Make(a)) return {};
  }
  auto scope = graph->NameScope(options_.name);
  const std::string name = ImplOf(*graph).name_scope();
  Output decay = decay_.ToOutput(*graph, kFloat32);
  // If num_updates is given, it limits the decay, as in TensorFlow.
  if (options_.num_updates.is_number() || options_.num_updates.dtype() != DType::kInvalid) {
    const Output n = Cast(options_.num_updates.ToOutput(*graph), kFloat32);
    decay = Minimum(decay, (1.0 + n) / (10.0 + n));
  }
  const Output rate = 1.0 - decay;
  std::vector<Operation> updates;
  for (const Averaged& a : all) updates.push_back(Update(a, rate));
  return graph->status().ok() ? Group(*graph, updates, name + "/") : Operation();
}

bool ExponentialMovingAverage::Make(const Averaged& averaged) {
  const Variable& variable = averaged.variable;
  const Operation place = averaged.key.op();
  Graph& graph = *place.graph();
  auto top = graph.NameScope("");
  auto device = graph.ColocateWith(place);
  const auto make = [&](const std::string& name, const Shape& shape, const Initializer& initializer) {
    const DType dtype = variable.valid() ? variable.dtype() : averaged.key.dtype();
    return Variable(graph, shape, initializer,
                    {.name = InVariableScope(graph, name), .dtype = dtype, .trainable = false});
  };
  const std::string name = StrCat(place.name(), "/", options_.name);
  Entry entry{averaged.key, {}, {}, {}};
  if (variable.valid()) {
    entry.average = make(name, variable.shape(), [&](Graph&, const Shape&, DType) { return variable.initial_value(); });
  } else {
    const Shape& shape = averaged.key.shape();
    entry.average = make(name, shape, Zeros());
    if (options_.zero_debias && entry.average.valid()) {
      entry.biased = make(entry.average.name() + "/biased", shape, Zeros());
      entry.steps = make(entry.average.name() + "/local_step", {}, Zeros());
    }
  }
  if (!graph.status().ok()) return false;
  if (variable.valid()) graph.AddToCollection(kAveragedVariables, variable.handle());
  entries_.push_back(std::move(entry));
  return true;
}

Operation ExponentialMovingAverage::Update(const Averaged& averaged, const Output& rate) {
  const Entry& entry = *Find(averaged.key);
  const Variable& average = entry.average;
  Graph& graph = *average.graph();
  auto device = graph.ColocateWith(average.handle().op());
  const Output r = Cast(rate, average.dtype());
  const Output value = averaged.variable.valid() ? averaged.variable.value() : averaged.key;
  if (!entry.biased.valid()) return average.AssignSub((average - value) * r);

  // If the value is constant, an average that starts at 0 is value * (1 - decay^steps). The division below turns this
  // average into the value.
  const Operation moved = entry.biased.AssignSub((entry.biased - value) * r);
  const Operation counted = entry.steps.AssignAdd(1);
  auto after = graph.ControlDependencies({moved, counted});
  return average.Assign(entry.biased.Read() / (1.0 - Pow(1.0 - r, entry.steps.Read())));
}

ExponentialMovingAverage::Entry* ExponentialMovingAverage::Find(const Output& key) {
  for (Entry& entry : entries_) {
    if (entry.averaged == key) return &entry;
  }
  return nullptr;
}

Variable ExponentialMovingAverage::AverageOf(const Output& key) const {
  for (const Entry& entry : entries_) {
    if (entry.averaged == key) return entry.average;
  }
  return {};
}

std::string ExponentialMovingAverage::AverageName(const Variable& variable) const {
  return StrCat(variable.name(), "/", options_.name);
}

std::vector<SavedVariable> ExponentialMovingAverage::VariablesToRestore(const Graph& graph) const {
  std::set<const Node*> averaged;  // the handles of variables that are restored from averages
  for (const Output& handle : graph.GetCollection(kAveragedVariables)) averaged.insert(NodeOf(handle));
  std::vector<SavedVariable> restored;
  std::set<std::string> names;
  for (const Variable& v : graph.variables()) {
    if (v.local() || v.table() != nullptr || !(v.trainable() || averaged.contains(NodeOf(v.handle())))) continue;
    restored.emplace_back(v, AverageName(v));
    averaged.insert(NodeOf(v.handle()));
    names.insert(AverageName(v));
  }
  for (const Variable& v : graph.variables()) {
    if (!v.local() && !averaged.contains(NodeOf(v.handle())) && !names.contains(v.name())) restored.emplace_back(v);
  }
  return restored;
}

}  // namespace tensorbraid
