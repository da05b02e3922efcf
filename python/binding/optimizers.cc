#include "tensorbraid/optimizers.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "binding/graph.h"

namespace tensorbraid::python {
namespace {

// A learning rate: a number, or a tensor of the graph.
Operand RateOf(nb::handle rate) {
  if (nb::isinstance<PyTensor>(rate)) return nb::cast<PyTensor&>(rate).output;
  if (nb::isinstance<PyVariable>(rate)) return nb::cast<PyVariable&>(rate).variable;
  return nb::cast<double>(rate);
}

nb::object GradientObject(const Gradient& gradient) {
  if (!gradient.valid()) return nb::none();
  if (!gradient.is_sparse()) return nb::cast(Wrap(gradient.dense()));
  const IndexedSlices& slices = gradient.slices();
  return nb::make_tuple(Wrap(slices.values), Wrap(slices.indices), Wrap(slices.dense_shape));
}

Gradient GradientOf(Graph& graph, nb::handle value, DType dtype) {
  if (value.is_none()) return {};
  if (nb::isinstance<nb::tuple>(value)) {
    const auto output = [&](int i) { return nb::cast<PyTensor&>(value[i]).output; };
    return IndexedSlices{.values = output(0), .indices = output(1), .dense_shape = output(2)};
  }
  return OutputFor(graph, value, dtype, "gradient");
}

nb::list ComputeGradients(Optimizer& self, PyTensor& loss, nb::list variables) {
  Graph& graph = *loss.output.graph();
  const ScopeGuard at = AtUserLine(graph);
  std::vector<Variable> list;
  for (const nb::handle variable : variables) list.push_back(nb::cast<PyVariable&>(variable).variable);
  const auto grads = Check(self.ComputeGradients(loss.output, list));
  CheckBuilt(graph);
  nb::list result;
  for (const GradAndVar& grad : grads) result.append(nb::make_tuple(GradientObject(grad.grad), Wrap(grad.var)));
  return result;
}

PyOperation ApplyGradients(Optimizer& self, nb::list grads, nb::handle global_step, const std::string& name) {
  std::vector<GradAndVar> list;
  if (nb::len(grads) == 0) throw nb::value_error("no gradients were given");
  Graph* graph = nullptr;
  for (const nb::handle pair : grads) {
    const Variable& variable = nb::cast<PyVariable&>(pair[1]).variable;
    graph = variable.graph();
    list.push_back({GradientOf(*graph, pair[0], variable.dtype()), variable});
  }
  const ScopeGuard at = AtUserLine(*graph);
  ApplyGradientsOptions options = {.name = name};
  if (!global_step.is_none()) options.global_step = nb::cast<PyVariable&>(global_step).variable;
  const Operation train = self.ApplyGradients(list, options);
  CheckBuilt(*graph);
  return Wrap(train);
}

}  // namespace

void BindOptimizers(nb::module_& m) {
  nb::class_<Optimizer>(m, "Optimizer")
      .def("_compute_gradients", &ComputeGradients)
      .def("_apply_gradients", &ApplyGradients)
      .def("get_slot_names", [](const Optimizer& self) { return self.GetSlotNames(); })
      .def("get_slot", [](const Optimizer& self, PyVariable& variable, const std::string& slot) -> nb::object {
        const Variable found = self.GetSlot(variable.variable, slot);
        return found.valid() ? nb::cast(Wrap(found)) : nb::none();
      });
  m.def("gradient_descent", [](nb::handle rate) -> std::shared_ptr<Optimizer> {
    return std::make_shared<GradientDescentOptimizer>(RateOf(rate));
  });
}

}  // namespace tensorbraid::python
