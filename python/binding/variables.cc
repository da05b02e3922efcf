#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "binding/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid::python {
namespace {

// `initial_value` is a function that returns a value for OutputFor; it is called in the scope of the initializer.
PyVariable MakeVariable(nb::handle self, nb::callable initial_value, nb::handle shape, int dtype,
                        const std::string& name, bool trainable, bool local) {
  Graph& graph = nb::cast<Graph&>(self);
  const ScopeGuard at = AtUserLine(graph);
  const Initializer initializer = [&](Graph& g, const Shape&, DType type) {
    return OutputFor(g, initial_value(), type, "initial_value");
  };
  Shape dims;
  for (const nb::handle dim : shape) dims.AddDim(nb::cast<int64_t>(dim));
  const Variable variable(graph, dims, initializer,
                          {.name = name, .dtype = static_cast<DType>(dtype), .trainable = trainable, .local = local});
  CheckBuilt(graph);
  return Wrap(variable);
}

template <Operation (Variable::*update)(const Operand&) const>
PyOperation Update(const PyVariable& self, nb::handle value) {
  Graph& graph = *self.variable.graph();
  const ScopeGuard at = AtUserLine(graph);
  const Output output = OutputFor(graph, value, self.variable.dtype(), "value");
  const Operation made = output.valid() ? (self.variable.*update)(output) : Operation();
  CheckBuilt(graph);
  return Wrap(made);
}

PyTensor Read(const PyVariable& self) {
  Graph& graph = *self.variable.graph();
  const ScopeGuard at = AtUserLine(graph);
  const Output value = self.variable.Read();
  CheckBuilt(graph);
  return Wrap(value);
}

std::vector<Variable> VariablesOf(nb::list variables) {
  std::vector<Variable> list;
  for (const nb::handle variable : variables) list.push_back(nb::cast<PyVariable&>(variable).variable);
  return list;
}

}  // namespace

void BindVariables(nb::module_& m) {
  nb::class_<PyVariable>(m, "Variable", nb::type_slots(Collected<PyVariable>()))
      .def_static("_make", &MakeVariable)
      .def_prop_ro("name", [](const PyVariable& self) { return self.variable.name() + ":0"; })
      .def_prop_ro("graph", [](const PyVariable& self) { return self.graph; })
      .def_prop_ro("_dtype", [](const PyVariable& self) { return static_cast<int>(self.variable.dtype()); })
      .def_prop_ro("_shape",
                   [](const PyVariable& self) {
                     nb::list dims;
                     for (const int64_t dim : self.variable.shape().dims()) dims.append(dim);
                     return dims;
                   })
      .def_prop_ro("_local", [](const PyVariable& self) { return self.variable.local(); })
      .def_prop_ro("trainable", [](const PyVariable& self) { return self.variable.trainable(); })
      .def_prop_ro("op",
                   [](const PyVariable& self) {
                     return PyOperation{self.variable.handle().op(), self.graph};
                   })
      .def_prop_ro("handle",
                   [](const PyVariable& self) {
                     return PyTensor{self.variable.handle(), self.graph};
                   })
      .def_prop_ro("initializer",
                   [](const PyVariable& self) {
                     return PyOperation{self.variable.initializer(), self.graph};
                   })
      .def_prop_ro("initial_value",
                   [](const PyVariable& self) {
                     return PyTensor{self.variable.initial_value(), self.graph};
                   })
      .def("value",
           [](const PyVariable& self) {
             return PyTensor{self.variable.value(), self.graph};
           })
      .def("read_value", &Read)
      .def("_assign", &Update<&Variable::Assign>)
      .def("_assign_add", &Update<&Variable::AssignAdd>)
      .def("_assign_sub", &Update<&Variable::AssignSub>)
      .def("__eq__",
           [](const PyVariable& self, nb::handle other) {
             return nb::isinstance<PyVariable>(other) && nb::cast<PyVariable&>(other).variable == self.variable;
           })
      .def("__hash__", [](const PyVariable& self) { return std::hash<std::string>()(self.variable.name()); });
  m.def("variables", [](Graph& graph) {
    nb::list list;
    for (const Variable& variable : graph.variables()) list.append(Wrap(variable));
    return list;
  });
  m.def("variables_initializer", [](Graph& graph, nb::list variables, const std::string& name) {
    const ScopeGuard at = AtUserLine(graph);
    const Operation made = VariablesInitializer(graph, VariablesOf(variables), name);
    CheckBuilt(graph);
    return Wrap(made);
  });
  m.def("get_or_create_global_step", [](Graph& graph) {
    const ScopeGuard at = AtUserLine(graph);
    const Variable step = GetOrCreateGlobalStep(graph);
    CheckBuilt(graph);
    return Wrap(step);
  });
}

}  // namespace tensorbraid::python
