#include "binding/own_rule.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tensorbraid::python {
namespace {

// The tensors of slices as a tuple, a tensor, or None.
nb::object ValueOf(const Gradient& grad) {
  if (!grad.valid()) return nb::none();
  if (!grad.is_sparse()) return Wrap(grad.dense());
  const IndexedSlices& slices = grad.slices();
  return nb::make_tuple(Wrap(slices.values), Wrap(slices.indices), Wrap(slices.dense_shape));
}

PythonMethods& MethodsOf(Optimizer& optimizer) {
  auto* const methods = dynamic_cast<PythonMethods*>(&optimizer);
  if (methods == nullptr) throw nb::type_error("this optimizer has no rule of its own");
  return *methods;
}

nb::list Wrapped(const std::vector<Operation>& operations) {
  nb::list list;
  for (const Operation& operation : operations) list.append(Wrap(operation));
  return list;
}

}  // namespace

Gradient GradientOf(Graph& graph, nb::handle value, DType dtype) {
  if (value.is_none()) return {};
  if (nb::isinstance<nb::tuple>(value)) {
    const auto output = [&](int i) { return nb::cast<PyTensor&>(value[i]).output; };
    return IndexedSlices{.values = output(0), .indices = output(1), .dense_shape = output(2)};
  }
  return OutputFor(graph, value, dtype, "gradient");
}

std::vector<GradAndVar> GradsAndVarsOf(nb::handle pairs) {
  std::vector<GradAndVar> list;
  for (const nb::handle pair : pairs) {
    const Variable& variable = nb::cast<PyVariable&>(pair[1]).variable;
    list.push_back({GradientOf(*variable.graph(), pair[0], variable.dtype()), variable});
  }
  return list;
}

nb::list PairsOf(const std::vector<GradAndVar>& grads) {
  nb::list pairs;
  for (const GradAndVar& g : grads) pairs.append(nb::make_tuple(ValueOf(g.grad), Wrap(g.var)));
  return pairs;
}

std::vector<GradAndVar> PythonMethods::ComputeInPython(const Output& loss,
                                                       const std::vector<Variable>& variables) const {
  nb::list list;
  for (const Variable& variable : variables) list.append(Wrap(variable));
  return GradsAndVarsOf(Call("_compute_for_library", Wrap(loss), list));
}

Operation PythonMethods::ApplyGradientsInPython(const std::vector<GradAndVar>& grads,
                                                const ApplyGradientsOptions& options) const {
  const Variable& step = options.global_step;
  return OperationOf(Call("_apply_for_library", PairsOf(grads), Wrap(step),
                          options.name.empty() ? nb::none() : nb::cast(options.name)));
}

void PythonMethods::CreateSlotsInPython(const std::vector<Variable>& variables) const {
  nb::list list;
  for (const Variable& variable : variables) list.append(Wrap(variable));
  const ScopeGuard no_dependencies = variables.at(0).graph()->ControlDependencies(std::vector<Operation>());
  Call("_create_slots", list);
}

bool PythonMethods::IsConstrained(const Variable& variable) { return !Wrap(variable).attr("constraint").is_none(); }

Operation PythonMethods::ApplyInPython(const Gradient& grad, const Variable& variable) const {
  return OperationOf(Call("_update", ValueOf(grad), Wrap(variable)));
}

std::vector<Operation> PythonMethods::FinishInPython(const std::vector<Operation>& updates) const {
  const nb::object made = Call("_finish", Wrapped(updates), "finish");
  if (made.is_none()) return {};
  return {OperationOf(made)};
}

Operation NoRule::Apply(const Gradient&, const Variable&) {
  PyErr_SetString(PyExc_NotImplementedError, "the optimizer does not say how it updates variables");
  throw nb::python_error();
}

void BindOwnRule(Class<Optimizer>& optimizers) {
  optimizers
      // Calls what a class of Python replaces. The package's own minimize is in Python, as TensorFlow's, for its
      // errors.
      .def("_minimize",
           [](Optimizer& self, const PyTensor& loss) {
             Graph& graph = *loss.output.graph();
             const ScopeGuard at = AtUserLine(graph);
             const Operation train = self.Minimize(loss.output);
             CheckBuilt(graph);
             return Wrap(train);
           })
      .def("_library_create_slots",
           [](Optimizer& self, const PyVariable& variable) {
             Graph& graph = *variable.variable.graph();
             const ScopeGuard at = AtUserLine(graph);
             MethodsOf(self).LibraryCreateSlots(variable.variable);
             CheckBuilt(graph);
           })
      .def("_library_prepare",
           [](Optimizer& self, Graph& graph) {
             const ScopeGuard at = AtUserLine(graph);
             MethodsOf(self).LibraryPrepare(graph);
             CheckBuilt(graph);
           })
      .def("_library_apply",
           [](Optimizer& self, nb::handle grad, const PyVariable& variable) {
             Graph& graph = *variable.variable.graph();
             const ScopeGuard at = AtUserLine(graph);
             const Operation made =
                 MethodsOf(self).LibraryApply(GradientOf(graph, grad, variable.variable.dtype()), variable.variable);
             CheckBuilt(graph);
             return Wrap(made);
           })
      .def("_library_finish",
           [](Optimizer& self, Graph& graph) {
             const ScopeGuard at = AtUserLine(graph);
             const std::vector<Operation> made = MethodsOf(self).LibraryFinish();
             CheckBuilt(graph);
             return Wrapped(made);
           })
      .def("_shared", [](Optimizer& self, const std::string& name) { return Wrap(MethodsOf(self).Shared(name)); })
      .def("_slot",
           [](Optimizer& self, const PyVariable& variable, const std::string& slot, nb::handle initializer,
              const std::string& name, nb::handle shape, int dtype) {
             Graph& graph = *variable.variable.graph();
             const ScopeGuard at = AtUserLine(graph);
             const Variable made = MethodsOf(self).Slot(variable.variable, slot, InitializerOf(initializer), name,
                                                        ShapeOf(shape), static_cast<DType>(dtype));
             CheckBuilt(graph);
             return Wrap(made);
           })
      // As _slot, for a slot of a growing table, which begins with one number in all rows.
      .def("_table_slot",
           [](Optimizer& self, const PyVariable& variable, const std::string& slot, double number,
              const std::string& name) {
             Graph& graph = *variable.variable.graph();
             const ScopeGuard at = AtUserLine(graph);
             const Variable& of = variable.variable;
             const Variable made = MethodsOf(self).Slot(of, slot, Constant(number), name, of.shape(), of.dtype());
             CheckBuilt(graph);
             return Wrap(made);
           })
      // The slices with each row once, as a tuple of tensors.
      .def_static("_distinct_rows", [](nb::handle slices) {
        Graph& graph = *nb::cast<PyTensor&>(slices[0]).output.graph();
        const ScopeGuard at = AtUserLine(graph);
        const Gradient made = GradientOf(graph, slices, DType::kInvalid).WithDistinctRows();
        CheckBuilt(graph);
        return ValueOf(made);
      });
}

}  // namespace tensorbraid::python
