#include "binding/graph.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "binding/functions.h"
#include "graph/model/handles.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"

namespace tensorbraid::python {
namespace {

// A context manager for a scope of a graph. The scope begins when the object is made.
class Scope {
 public:
  explicit Scope(ScopeGuard guard) : guard_(std::move(guard)) {}
  void Exit() { guard_.reset(); }

 private:
  std::optional<ScopeGuard> guard_;
};

std::string EncodedText(nb::handle text) {
  if (nb::isinstance<nb::bytes>(text)) {
    const auto bytes = nb::borrow<nb::bytes>(text);
    return std::string(bytes.c_str(), bytes.size());
  }
  return nb::cast<std::string>(text);
}

template <typename T, typename F>
AttrValue ListOf(nb::handle values, const F& convert) {
  std::vector<T> list;
  for (const nb::handle value : values) list.push_back(convert(value));
  return AttrValue(std::move(list));
}

// The value of an attribute whose type, as op definitions write it, is `type`. Types are given as their numbers.
AttrValue AttrOf(const std::string& type, nb::handle value) {
  const auto number = [](nb::handle v) { return nb::cast<int64_t>(v); };
  const auto real = [](nb::handle v) { return static_cast<float>(nb::cast<double>(v)); };
  const auto flag = [](nb::handle v) { return nb::cast<bool>(v); };
  const auto dtype = [](nb::handle v) { return static_cast<DType>(nb::cast<int>(v)); };
  const auto tensor = [](nb::handle v) { return TensorOf(v, DType::kInvalid); };
  if (type == "string") return EncodedText(value);
  if (type == "int") return number(value);
  if (type == "float") return real(value);
  if (type == "bool") return flag(value);
  if (type == "type") return dtype(value);
  if (type == "shape") return ShapeOf(value);
  if (type == "tensor") return tensor(value);
  if (type == "func") return nb::cast<const PyFunction&>(value).function.attr();
  if (type == "list(string)") return ListOf<std::string>(value, EncodedText);
  if (type == "list(int)") return ListOf<int64_t>(value, number);
  if (type == "list(float)") return ListOf<float>(value, real);
  if (type == "list(bool)") return ListOf<bool>(value, flag);
  if (type == "list(type)") return ListOf<DType>(value, dtype);
  if (type == "list(shape)") return ListOf<Shape>(value, ShapeOf);
  if (type == "list(tensor)") return ListOf<Tensor>(value, tensor);
  throw nb::type_error(("attributes of type " + type + " cannot be set from Python").c_str());
}

bool IsEmptyList(nb::handle value) {
  return (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) && nb::len(value) == 0;
}

bool IsFloatArray(nb::handle value) {
  if (!nb::hasattr(value, "astype") || !nb::hasattr(value, "dtype")) return false;
  const nb::object kind = nb::getattr(value.attr("dtype"), "kind", nb::none());
  return nb::isinstance<nb::str>(kind) && nb::cast<std::string>(kind) == "f";
}

bool Allows(const AttrDef& attr, DType dtype) {
  const std::vector<DType>& allowed = attr.allowed_types;
  return allowed.empty() || std::find(allowed.begin(), allowed.end(), dtype) != allowed.end();
}

// Converts the inputs of a node to tensors, in the order of the op's definition. As in TensorFlow, values of Python
// take the dtype that the attributes or earlier inputs determine.
class InputsOf {
 public:
  InputsOf(Graph& graph, const OpDef& op, const std::map<std::string, AttrValue>& attrs)
      : graph_(graph), op_(op), attrs_(attrs) {}

  void Add(const ArgDef& arg, nb::handle value, NodeBuilder* builder) {
    if (arg.number_attr.empty() && arg.type_list_attr.empty()) {
      builder->Input(Convert(arg, value, DTypeFor(arg), arg.name));
      return;
    }
    std::vector<Output> outputs;
    const std::vector<DType>* types = nullptr;
    if (const auto it = attrs_.find(arg.type_list_attr); it != attrs_.end())
      types = it->second.get<std::vector<DType>>();
    DType dtype = DTypeFor(arg);
    // A tensor in the list determines the dtype of the values before it, too.
    if (dtype == DType::kInvalid && arg.type_list_attr.empty()) {
      for (const nb::handle item : value) {
        if (dtype == DType::kInvalid && IsTensorLike(item)) dtype = OutputFor(graph_, item, dtype, "").dtype();
      }
    }
    for (const nb::handle item : value) {
      const size_t i = outputs.size();
      if (types != nullptr && i < types->size()) dtype = (*types)[i];
      outputs.push_back(Convert(arg, item, dtype, arg.name + "_" + std::to_string(i)));
      if (arg.type_list_attr.empty()) dtype = outputs.back().dtype();
    }
    builder->InputList(std::move(outputs));
  }

 private:
  // The tensor for a value. The error for an array or a text that no tensor can hold names the argument.
  Output Converted(const ArgDef& arg, nb::handle value, DType dtype, const std::string& name) {
    const auto named = [&](const std::string& what) { return "input '" + arg.name + "' of " + op_.name + ": " + what; };
    try {
      return OutputFor(graph_, value, dtype, name);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_UnicodeError)) throw;
      throw nb::value_error(named(nb::cast<std::string>(nb::str(error.value()))).c_str());
    } catch (const nb::builtin_exception& error) {
      if (error.type() != nb::exception_type::type_error || !nb::hasattr(value, "dtype")) throw;
      throw nb::type_error(named(error.what()).c_str());
    }
  }

  DType DTypeFor(const ArgDef& arg) const {
    if (arg.type != DType::kInvalid) return arg.type;
    if (const auto it = inferred_.find(arg.type_attr); it != inferred_.end()) return it->second;
    if (const auto it = attrs_.find(arg.type_attr); it != attrs_.end()) {
      if (const DType* dtype = it->second.get<DType>()) return *dtype;
    }
    return DType::kInvalid;
  }

  Output Convert(const ArgDef& arg, nb::handle value, DType dtype, const std::string& name) {
    const AttrDef* const attr = arg.type_attr.empty() ? nullptr : op_.FindAttr(arg.type_attr);
    // An empty list has no dtype of its own; it takes the default of the attribute, as in reshape(x, []).
    if (dtype == DType::kInvalid && attr != nullptr && attr->default_value.has_value() && IsEmptyList(value)) {
      dtype = *attr->default_value->get<DType>();
    }
    // As in TensorFlow, an array of floating point numbers becomes integers where only integers are allowed.
    nb::object integers;
    if (dtype == DType::kInvalid && attr != nullptr && attr->default_value.has_value() && IsFloatArray(value) &&
        !Allows(*attr, DType::kFloat32)) {
      integers = value.attr("astype")(DTypeName(*attr->default_value->get<DType>()));
      value = integers;
    }
    Output output = Converted(arg, value, dtype, name);
    if (arg.is_ref && nb::isinstance<PyVariable>(value)) output = nb::cast<PyVariable&>(value).variable.handle();
    if (!output.valid() || output.dtype() == DType::kInvalid) return output;
    // As in TensorFlow, a wrong dtype is a TypeError, while a wrong shape is an error of the value.
    if (dtype != DType::kInvalid && BaseType(output.dtype()) != dtype) {
      throw nb::type_error(("input '" + arg.name + "' of " + op_.name + " is " + DTypeName(output.dtype()) +
                            " but must be " + DTypeName(dtype) + "; convert it with tf.cast")
                               .c_str());
    }
    if (attr != nullptr) {
      inferred_.emplace(arg.type_attr, BaseType(output.dtype()));
      if (!Allows(*attr, BaseType(output.dtype()))) {
        throw nb::type_error(
            ("input '" + arg.name + "' of " + op_.name + " cannot be " + DTypeName(output.dtype())).c_str());
      }
    }
    return output;
  }

  Graph& graph_;
  const OpDef& op_;
  const std::map<std::string, AttrValue>& attrs_;
  std::map<std::string, DType> inferred_;
};

OperationObject AddOp(nb::handle self, const std::string& type, nb::list inputs, nb::dict attrs,
                      const std::string& name) {
  Graph& graph = nb::cast<Graph&>(self);
  const OpDef* const op = OpRegistry::Global().Find(type);
  if (op == nullptr) throw nb::value_error(("the op '" + type + "' does not exist").c_str());
  std::map<std::string, AttrValue> values;
  for (const auto& [key, value] : attrs) {
    const std::string attr = nb::cast<std::string>(key);
    const AttrDef* const def = op->FindAttr(attr);
    if (def == nullptr) throw nb::type_error((type + " has no attribute '" + attr + "'").c_str());
    // None as a shape is the shape of unknown rank.
    if (value.is_none() && def->type != "shape") continue;
    values.emplace(attr, Converted("'" + attr + "' of " + type + " must be of type " + def->type, value,
                                   [&, value = nb::handle(value)] { return AttrOf(def->type, value); }));
  }
  if (nb::len(inputs) != op->inputs.size()) {
    throw nb::type_error(
        (type + " has " + std::to_string(op->inputs.size()) + " inputs, got " + std::to_string(nb::len(inputs)))
            .c_str());
  }
  const ScopeGuard at = AtUserLine(graph);
  NodeBuilder builder(graph, type);
  bool makes_constants = false;
  for (size_t i = 0; i < op->inputs.size(); ++i) {
    const bool is_list = !op->inputs[i].number_attr.empty() || !op->inputs[i].type_list_attr.empty();
    if (!is_list) makes_constants = makes_constants || !IsTensorLike(inputs[i]);
    if (is_list) {
      for (const nb::handle item : inputs[i]) makes_constants = makes_constants || !IsTensorLike(item);
    }
  }
  InputsOf converted(graph, *op, values);
  const std::string own = name.empty() ? type : name;
  std::string absolute;
  if (makes_constants) {
    // As in TensorFlow, constants are in a scope that has the node's name: "add/y" for "add".
    const ScopeGuard scope = graph.NameScope(own);
    absolute = graph.name_scope() + "/";
    for (size_t i = 0; i < op->inputs.size(); ++i) converted.Add(op->inputs[i], inputs[i], &builder);
  } else {
    for (size_t i = 0; i < op->inputs.size(); ++i) converted.Add(op->inputs[i], inputs[i], &builder);
  }
  builder.Name(makes_constants ? absolute : own);
  for (auto& [attr, value] : values) builder.Attr(attr, std::move(value));
  const Operation added = builder.Finish();
  CheckBuilt(graph);
  return Wrap(added);
}

}  // namespace

Shape ShapeOf(nb::handle dims) {
  if (dims.is_none()) return Shape::Unknown();
  Shape shape;
  for (const nb::handle dim : dims) shape.AddDim(dim.is_none() ? Shape::kUnknownDim : nb::cast<int64_t>(dim));
  return shape;
}

nb::object DimsOf(const Shape& shape) {
  if (!shape.has_rank()) return nb::none();
  nb::list dims;
  for (const int64_t dim : shape.dims()) {
    dims.append(dim < 0 ? nb::none() : nb::object(nb::int_(dim)));
  }
  return nb::object(dims);
}

Operation OperationOf(nb::handle value) {
  if (nb::isinstance<PyOperation>(value)) return nb::cast<PyOperation&>(value).operation;
  if (nb::isinstance<PyTensor>(value)) return nb::cast<PyTensor&>(value).output.op();
  if (nb::isinstance<PyVariable>(value)) return nb::cast<PyVariable&>(value).variable.handle().op();
  throw nb::type_error(
      ("expected an operation, a tensor or a variable, got " + nb::cast<std::string>(nb::repr(value))).c_str());
}

bool IsTensorLike(nb::handle value) {
  return nb::isinstance<PyTensor>(value) || nb::isinstance<PyVariable>(value) || nb::hasattr(value, "_as_graph_tensor");
}

namespace {

bool IsSequence(nb::handle value) { return nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value); }

// A level of nested lists. Lists that contain themselves raise RecursionError.
class Level {
 public:
  Level() {
    if (Py_EnterRecursiveCall(" while nested lists were converted to a tensor") != 0) throw nb::python_error();
  }
  ~Level() { Py_LeaveRecursiveCall(); }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
};

// The dtype of the first tensor in nested lists; kInvalid if they have none.
DType DTypeOfTensorsIn(Graph& graph, nb::handle list) {
  const Level level;
  for (const nb::handle item : list) {
    DType dtype = DType::kInvalid;
    if (IsSequence(item)) {
      dtype = DTypeOfTensorsIn(graph, item);
    } else if (IsTensorLike(item)) {
      dtype = OutputFor(graph, item, dtype, "").dtype();
    }
    if (dtype != DType::kInvalid) return dtype;
  }
  return DType::kInvalid;
}

// The tensor of nested lists of tensors and values, as tf.stack makes it.
Output Packed(Graph& graph, nb::handle list, DType dtype, const std::string& name) {
  const Level level;
  const ScopeGuard scope = graph.NameScope(name);
  const std::string own = graph.name_scope() + "/";
  std::vector<Output> items;
  for (const nb::handle item : list) items.push_back(OutputFor(graph, item, dtype, std::to_string(items.size())));
  return NodeBuilder(graph, "Pack").Name(own).InputList(std::move(items)).Attr("axis", int64_t{0}).Output();
}

}  // namespace

Output OutputFor(Graph& graph, nb::handle value, DType dtype, const std::string& name) {
  if (nb::isinstance<PyTensor>(value)) return nb::cast<PyTensor&>(value).output;
  if (nb::isinstance<PyVariable>(value)) {
    const Variable& variable = nb::cast<PyVariable&>(value).variable;
    return dtype == DType::kResource ? variable.handle() : variable.value();
  }
  if (nb::hasattr(value, "_as_graph_tensor")) {
    return nb::cast<PyTensor&>(value.attr("_as_graph_tensor")()).output;
  }
  if (IsSequence(value)) {
    const DType of_tensors = DTypeOfTensorsIn(graph, value);
    if (of_tensors != DType::kInvalid) return Packed(graph, value, dtype == DType::kInvalid ? of_tensors : dtype, name);
  }
  Tensor constant = TensorOf(value, dtype);
  const DType type = constant.dtype();
  return NodeBuilder(graph, "Const").Name(name).Attr("value", std::move(constant)).Attr("dtype", type).Output();
}

ScopeGuard AtUserLine(Graph& graph) {
  static const std::string* const package = [] {
    const auto file = nb::cast<std::string>(nb::module_::import_("tensorbraid").attr("__file__"));
    return new std::string(file.substr(0, file.rfind('/') + 1));
  }();
  auto frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid() && !frame.is_none()) {
    const auto file = nb::cast<std::string>(frame.attr("f_code").attr("co_filename"));
    if (!file.starts_with(*package)) return graph.Location(file, nb::cast<int>(frame.attr("f_lineno")));
    frame = frame.attr("f_back");
  }
  return graph.Location("python", 0);
}

namespace {

// Raises what TensorFlow raises for an error of building a graph.
void Raise(const Graph& graph, const Status& status) {
  if (absl::IsFailedPrecondition(status) && graph.finalized()) {
    throw std::runtime_error("Graph is finalized and cannot be modified: " + std::string(status.message()));
  }
  Check(status);
}

}  // namespace

void CheckBuilt(Graph& graph) { Raise(graph, graph.TakeStatus()); }

void CheckValues(Graph& graph) {
  const Status status = graph.TakeStatus();
  if (absl::IsInvalidArgument(status)) throw nb::value_error(std::string(status.message()).c_str());
  Raise(graph, status);
}

void BindGraph(Module& m) {
  Class<Scope>(m, "Scope")
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](Scope& self, nb::args) { self.Exit(); });

  Class<PyDeviceFunction>(m, "DeviceFunction").def("__call__", [](const PyDeviceFunction& self, PyOperation& op) {
    return self.function(op.operation);
  });

  ElementClass<PyOperation>(m, "Operation")
      .def_prop_ro("name", [](const PyOperation& self) { return self.operation.name(); })
      .def_prop_ro("type", [](const PyOperation& self) { return self.operation.type(); })
      .def_prop_ro("device", [](const PyOperation& self) { return self.operation.device(); })
      .def_prop_ro("graph", [](const PyOperation& self) { return self.graph; })
      .def_prop_ro("outputs", [](nb::handle_t<PyOperation> self) {
        nb::list outputs;
        const int count = nb::inst_ptr<PyOperation>(self)->operation.num_outputs();
        for (int i = 0; i < count; ++i) outputs.append(TensorAt(self, i));
        return outputs;
      });

  ElementClass<PyTensor>(m, "Tensor")
      .def_prop_ro("name", [](const PyTensor& self) { return self.output.name(); })
      .def_prop_ro("op", [](const PyTensor& self) -> OperationObject { return self.op; })
      .def_prop_ro("value_index", [](const PyTensor& self) { return self.output.index(); })
      .def_prop_ro("graph", [](const PyTensor& self) { return self.graph(); })
      .def_prop_ro("_dtype", [](const PyTensor& self) { return static_cast<int>(self.output.dtype()); })
      .def_prop_ro("_shape", [](const PyTensor& self) { return DimsOf(self.output.shape()); })
      .def("_constant", [](const PyTensor& self) -> nb::object {
        const Node& node = *NodeOf(self.output);
        return node.type() == "Const" ? ArrayOf(node.attr<Tensor>("value")) : nb::none();
      });

  Class<Graph>(m, "GraphBase");
  Class<PyGraph, Graph>(m, "Graph", nb::type_slots(Collected<PyGraph>()))
      .def(nb::init<>())
      .def("_op", &AddOp, nb::arg("type"), nb::arg("inputs"), nb::arg("attrs"), nb::arg("name"))
      .def("_const",
           [](nb::handle self, nb::handle value, int dtype, const std::string& name) {
             Graph& graph = nb::cast<Graph&>(self);
             const ScopeGuard at = AtUserLine(graph);
             const Output made = OutputFor(graph, value, static_cast<DType>(dtype), name);
             CheckBuilt(graph);
             return Wrap(made);
           })
      .def("_device", [](Graph& self, const std::string& name) { return Scope(self.Device(name)); })
      .def("_device",
           [](Graph& self, const PyDeviceFunction& function) { return Scope(self.Device(function.function)); })
      .def("_device",
           [](Graph& self, const std::function<std::string(OperationObject)>& function) {
             return Scope(self.Device([function](const Operation& op) { return function(WrapPlaced(op)); }));
           })
      .def("_container", [](Graph& self, const std::string& name) { return Scope(self.Container(name)); })
      .def("_no_device", [](Graph& self) { return Scope(self.NoDevice()); })
      .def("_name_scope", [](Graph& self, const std::string& name) { return Scope(self.NameScope(name)); })
      .def_prop_ro("_scope_name", [](const Graph& self) { return self.name_scope(); })
      .def("_control_dependencies",
           [](Graph& self, nb::list values) {
             std::vector<Operation> operations;
             for (const nb::handle value : values) operations.push_back(OperationOf(value));
             return Scope(self.ControlDependencies(operations));
           })
      .def("_colocate_with", [](Graph& self, nb::handle value) { return Scope(self.ColocateWith(OperationOf(value))); })
      .def("_operation",
           [](const Graph& self, const std::string& name) { return Wrap(Check(self.FindOperation(name))); })
      .def("_tensor", [](const Graph& self, const std::string& name) { return Wrap(Check(self.FindOutput(name))); })
      .def("get_operations",
           [](const Graph& self) {
             nb::list operations;
             for (const Operation& operation : self.operations()) operations.append(Wrap(operation));
             return operations;
           })
      .def("_graph_def",
           [](const Graph& self) {
             const std::string bytes = Check(self.ToGraphDef());
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("_gradients",
           [](nb::handle self, nb::list ys, nb::list xs, nb::list grad_ys, nb::list stop_gradients,
              const std::string& name) {
             Graph& graph = nb::cast<Graph&>(self);
             const auto outputs = [&](nb::list values, bool handles) {
               std::vector<Output> list;
               for (const nb::handle value : values) {
                 list.push_back(OutputFor(graph, value, handles ? DType::kResource : DType::kInvalid, ""));
               }
               return list;
             };
             const ScopeGuard at = AtUserLine(graph);
             const auto gradients =
                 Check(SparseGradients(outputs(ys, false), outputs(xs, true), outputs(grad_ys, false),
                                       {.stop_gradients = outputs(stop_gradients, true), .name = name}));
             CheckBuilt(graph);
             nb::list result;
             for (const Gradient& gradient : gradients) {
               if (!gradient.valid()) {
                 result.append(nb::none());
               } else if (gradient.is_sparse()) {
                 const IndexedSlices& slices = gradient.slices();
                 result.append(nb::make_tuple(Wrap(slices.values), Wrap(slices.indices), Wrap(slices.dense_shape)));
               } else {
                 result.append(Wrap(gradient.dense()));
               }
             }
             return result;
           })
      .def("_finalize", [](Graph& self, const std::string& reason) { self.Finalize(reason); })
      .def("_unsafe_unfinalize", [](Graph& self) { self.Unfinalize(); })
      .def_prop_ro("finalized", [](const Graph& self) { return self.finalized(); })
      .def_prop_rw(
          "seed", [](const Graph& self) { return self.random_seed(); },
          [](Graph& self, int64_t seed) { self.SetRandomSeed(seed); });
}

}  // namespace tensorbraid::python
