// Library functions, whose bodies are built by functions of Python.
#include "binding/functions.h"

#include <nanobind/stl/string.h>

namespace tensorbraid::python {

std::vector<TensorSpec> SpecsOf(nb::handle pairs) {
  std::vector<TensorSpec> specs;
  for (const nb::handle pair : pairs) {
    specs.push_back({static_cast<DType>(nb::cast<int>(pair[0])), ShapeOf(pair[1])});
  }
  return specs;
}

nb::list PairsOf(const std::vector<TensorSpec>& specs) {
  nb::list pairs;
  for (const TensorSpec& spec : specs) pairs.append(nb::make_tuple(static_cast<int>(spec.dtype), DimsOf(spec.shape)));
  return pairs;
}

void BindFunctions(Module& m) {
  Class<PyFunction>(m, "Function", nb::type_slots(Collected<PyFunction>()))
      .def_prop_ro("name", [](const PyFunction& self) { return self.function.name(); })
      .def_prop_ro("is_stateful", [](const PyFunction& self) { return self.function.is_stateful(); })
      .def_prop_ro("results", [](const PyFunction& self) { return PairsOf(self.function.results()); })
      .def_prop_ro("captures", [](const PyFunction& self) { return ListOfTensors(self.function.captures()); });

  Class<FunctionBuilder>(m, "FunctionBuilder")
      .def(
          "__init__",
          [](FunctionBuilder* self, Graph& outer, Graph& body, const std::string& name, nb::handle args) {
            const ScopeGuard at = AtUserLine(outer);
            new (self) FunctionBuilder(outer, body, name, SpecsOf(args));
          },
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def_prop_ro("args", [](const FunctionBuilder& self) { return ListOfTensors(self.args()); })
      .def("finish", [](FunctionBuilder& self, nb::handle outer, nb::handle results) {
        LibraryFunction made = self.Finish(OutputsOf(results));
        CheckBuilt(nb::cast<Graph&>(outer));
        return PyFunction{std::move(made), nb::borrow(outer)};
      });
}

}  // namespace tensorbraid::python
