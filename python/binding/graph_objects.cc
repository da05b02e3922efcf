// The Python objects of graphs and of their elements.
#include <functional>
#include <string>
#include <utility>

#include "binding/graph.h"
#include "graph/model/graph_impl.h"
#include "graph/model/handles.h"
#include "graph/model/node.h"

namespace tensorbraid::python {
namespace {

int VisitAll(const absl::flat_hash_map<const Node*, nb::object>& objects, visitproc visit, void* arg) {
  for (const auto& [node, object] : objects) Py_VISIT(object.ptr());
  return 0;
}

// The object of `node`, which `make` makes if it does not exist. An allocation may start the garbage collector, which
// may run code of the program that asks for the same object: the object that is made first is used.
template <typename Make>
nb::object FindOrMake(absl::flat_hash_map<const Node*, nb::object>& objects, const Node* node, const Make& make) {
  if (const auto known = objects.find(node); known != objects.end()) return known->second;
  nb::object made = nb::cast(make());
  return objects.try_emplace(node, std::move(made)).first->second;
}

GraphObjects& ObjectsOf(nb::handle graph) { return nb::inst_ptr<PyGraph>(graph)->objects; }

}  // namespace

int PyOperation::Traverse(visitproc visit, void* arg) const {
  Py_VISIT(graph.ptr());
  for (const nb::object& output : outputs) Py_VISIT(output.ptr());
  return 0;
}

void PyOperation::Clear() {
  graph.reset();
  std::vector<nb::object>().swap(outputs);
}

int PyTensor::Traverse(visitproc visit, void* arg) const {
  Py_VISIT(op.ptr());
  return 0;
}

void PyTensor::Clear() { op.reset(); }

OperationObject GraphObjects::Of(const Operation& operation, nb::handle graph) {
  return FindOrMake(operations_, NodeOf(operation), [&] { return PyOperation{operation, nb::borrow(graph), {}}; });
}

VariableObject GraphObjects::Of(const Variable& variable, nb::handle graph) {
  return FindOrMake(variables_, NodeOf(variable.handle()), [&] { return PyVariable{variable, nb::borrow(graph)}; });
}

int GraphObjects::Traverse(visitproc visit, void* arg) const {
  if (const int result = VisitAll(operations_, visit, arg); result != 0) return result;
  return VisitAll(variables_, visit, arg);
}

void GraphObjects::Clear() {
  // The maps are emptied before the objects are destroyed, because destroying them may run code of the program.
  const auto operations = std::exchange(operations_, {});
  const auto variables = std::exchange(variables_, {});
}

nb::object GraphObject(Graph& graph) { return nb::find(&graph); }

OperationObject Wrap(const Operation& operation) {
  if (!operation.valid()) return nb::none();
  const nb::object graph = GraphObject(*operation.graph());
  if (!graph.is_valid()) return nb::cast(PyOperation{operation, {}, {}});  // C++ made the graph for itself
  return ObjectsOf(graph).Of(operation, graph);
}

OperationObject WrapPlaced(const Operation& copy) {
  Node* const node = ImplOf(*copy.graph()).Find(copy.name());
  node->set_device(copy.device());
  return Wrap(tensorbraid::OperationOf(node));
}

VariableObject Wrap(const Variable& variable) {
  if (!variable.valid()) return nb::none();
  const nb::object graph = GraphObject(*variable.graph());
  return ObjectsOf(graph).Of(variable, graph);
}

TensorObject Wrap(const Output& output) {
  if (!output.valid()) return nb::none();
  return TensorAt(Wrap(output.op()), output.index());
}

TensorObject TensorAt(nb::handle operation, int index) {
  auto& op = *nb::inst_ptr<PyOperation>(operation);
  if (op.outputs.empty()) op.outputs.resize(op.operation.num_outputs());
  if (!op.outputs[index].is_valid()) {
    nb::object made = nb::cast(PyTensor{op.operation.output(index), nb::borrow(operation)});
    if (!op.outputs[index].is_valid()) op.outputs[index] = std::move(made);  // see FindOrMake
  }
  return op.outputs[index];
}

nb::list ListOfTensors(const std::vector<Output>& outputs) {
  nb::list tensors;
  for (const Output& output : outputs) tensors.append(Wrap(output));
  return tensors;
}

std::vector<Output> OutputsOf(nb::handle tensors) {
  std::vector<Output> outputs;
  for (const nb::handle tensor : tensors) outputs.push_back(nb::cast<PyTensor&>(tensor).output);
  return outputs;
}

std::vector<Variable> VariablesOf(nb::handle variables) {
  std::vector<Variable> list;
  for (const nb::handle variable : variables) list.push_back(nb::cast<PyVariable&>(variable).variable);
  return list;
}

size_t HashOf(const PyOperation& operation) { return std::hash<std::string>()(operation.operation.name()); }
size_t HashOf(const PyTensor& tensor) {
  return std::hash<std::string>()(tensor.output.op().name()) + static_cast<size_t>(tensor.output.index()) + 1;
}
size_t HashOf(const PyVariable& variable) { return ~std::hash<std::string>()(variable.variable.name()); }

}  // namespace tensorbraid::python
