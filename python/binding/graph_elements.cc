// What Python asks about the nodes of a graph: inputs, attributes, definitions of ops; and the import of GraphDefs.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

#include "binding/graph.h"
#include "core/text/device_name.h"
#include "graph/model/graph_impl.h"
#include "graph/model/handles.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"

namespace tensorbraid::python {
namespace {

nb::bytes SerializedBytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// A GraphDef with one node, which has the attributes of `attrs` under their names with "_" before them. A node may have
// any attribute with such a name, so this serialises attributes of every type.
nb::bytes Serialized(const std::map<std::string, AttrValue>& attrs) {
  Graph graph;
  NodeBuilder builder(graph, "NoOp");
  for (const auto& [name, value] : attrs) builder.Attr("_" + name, value);
  builder.Finish();
  Check(graph.TakeStatus());
  return SerializedBytes(Check(graph.ToGraphDef()));
}

nb::list ArgsOf(const std::vector<ArgDef>& args) {
  nb::list list;
  for (const ArgDef& arg : args) {
    list.append(nb::make_tuple(arg.name, static_cast<int>(arg.type), arg.type_attr, arg.number_attr, arg.type_list_attr,
                               arg.is_ref));
  }
  return list;
}

// The parts of an OpDef: name, inputs, outputs, attributes, defaults of attributes (see Serialized), is_stateful.
nb::tuple PartsOf(const OpDef& op) {
  nb::list attrs;
  std::map<std::string, AttrValue> defaults;
  for (const AttrDef& attr : op.attrs) {
    nb::list types, strings;
    for (const DType type : attr.allowed_types) types.append(static_cast<int>(type));
    for (const std::string& text : attr.allowed_strings) strings.append(text);
    attrs.append(nb::make_tuple(attr.name, attr.type, attr.minimum ? nb::object(nb::int_(*attr.minimum)) : nb::none(),
                                types, strings));
    if (attr.default_value) defaults.emplace(attr.name, *attr.default_value);
  }
  return nb::make_tuple(op.name, ArgsOf(op.inputs), ArgsOf(op.outputs), attrs, Serialized(defaults), op.is_stateful);
}

const Node& NodeOf(const PyOperation& op) { return *tensorbraid::NodeOf(op.operation); }

void SetShape(const PyTensor& tensor, nb::handle dims) {
  Shape shape;
  for (const nb::handle dim : dims) shape.AddDim(dim.is_none() ? Shape::kUnknownDim : nb::cast<int64_t>(dim));
  const GraphLock lock(*tensor.output.graph());
  const StatusOr<Shape> merged = tensor.output.shape().MergeWith(shape);
  if (!merged.ok()) throw nb::value_error(std::string(merged.status().message()).c_str());
  ImplOf(*tensor.output.graph()).RefineShape(tensorbraid::NodeOf(tensor.output), tensor.output.index(), *merged);
}

std::vector<Operation> ConsumersOf(const Output& tensor) {
  std::vector<Operation> consumers;
  const GraphLock lock(*tensor.graph());
  for (const auto& node : ImplOf(*tensor.graph()).nodes()) {
    for (const Output& input : node->inputs()) {
      if (input == tensor) {
        consumers.push_back(tensorbraid::OperationOf(node.get()));
        break;
      }
    }
  }
  return consumers;
}

}  // namespace

void BindGraphElements(Module& m) {
  m.def("inputs_of", [](const PyOperation& op) { return nb::tuple(ListOfTensors(NodeOf(op).inputs())); });
  m.def("control_inputs_of", [](const PyOperation& op) {
    nb::list inputs;
    for (Node* node : NodeOf(op).control_inputs()) inputs.append(Wrap(tensorbraid::OperationOf(node)));
    return inputs;
  });
  m.def("consumers_of", [](const PyTensor& tensor) {
    nb::list consumers;
    for (const Operation& operation : ConsumersOf(tensor.output)) consumers.append(Wrap(operation));
    return consumers;
  });
  m.def("attrs_of", [](const PyOperation& op) {
    std::map<std::string, AttrValue> attrs(NodeOf(op).attrs().begin(), NodeOf(op).attrs().end());
    return Serialized(attrs);
  });
  m.def("line_of", [](const PyOperation& op) -> nb::object {
    const auto& line = NodeOf(op).line();
    return line.has_value() ? nb::object(nb::make_tuple(line->file, line->line)) : nb::none();
  });
  m.def("op_def_of", [](const PyOperation& op) { return PartsOf(NodeOf(op).op()); });
  m.def("op_names", [] { return OpRegistry::Global().names(); });
  m.def("op_def_for_type", [](const Graph& graph, const std::string& type) {
    const OpDef* const op = ImplOf(graph).FindOp(type);
    return op == nullptr ? nb::object(nb::none()) : nb::object(PartsOf(*op));
  });
  m.def("set_shape", &SetShape);
  m.def("set_device", [](const PyOperation& op, const std::string& device) {
    const GraphLock lock(*op.operation.graph());
    tensorbraid::NodeOf(op.operation)->set_device(Check(DeviceName::Parse(device)).ToString());
  });
  // The parts of `inner`; those that it leaves open are taken from `outer`.
  m.def("merged_device", [](const std::string& inner, const std::string& outer) {
    return Check(DeviceName::Parse(inner)).MergedOver(Check(DeviceName::Parse(outer))).ToString();
  });
  m.def("unique_name", [](Graph& graph, const std::string& name) { return ImplOf(graph).UniqueName(name); });
  m.def("import_graph_def", [](Graph& graph, nb::bytes graph_def) {
    Check(graph.ImportGraphDef(std::string_view(graph_def.c_str(), graph_def.size())));
  });
}

}  // namespace tensorbraid::python
