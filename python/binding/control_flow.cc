// Conditionals and loops, whose branches and bodies are Python functions.
#include "tensorbraid/ops/control_flow.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "binding/graph.h"

namespace tensorbraid::python {
namespace {

nb::list AddCond(Graph& graph, PyTensor& predicate, nb::callable if_true, nb::callable if_false,
                 const std::string& name) {
  const ScopeGuard at = AtUserLine(graph);
  const std::vector<Output> results = Cond(predicate.output, Branch([&] { return OutputsOf(if_true()); }),
                                           Branch([&] { return OutputsOf(if_false()); }), name);
  CheckBuilt(graph);
  return ListOfTensors(results);
}

nb::list AddWhile(Graph& graph, nb::list variables, nb::callable condition, nb::callable body,
                  int64_t parallel_iterations, bool back_prop, std::optional<int64_t> maximum_iterations,
                  nb::list shape_invariants, const std::string& name) {
  WhileOptions options{.parallel_iterations = parallel_iterations,
                       .back_prop = back_prop,
                       .maximum_iterations = maximum_iterations,
                       .shape_invariants = {},
                       .name = name};
  for (const nb::handle shape : shape_invariants) options.shape_invariants.push_back(ShapeOf(shape));
  const ScopeGuard at = AtUserLine(graph);
  const std::vector<Output> results = While(
      OutputsOf(variables),
      [&](const std::vector<Output>& v) { return nb::cast<PyTensor&>(condition(ListOfTensors(v))).output; },
      [&](const std::vector<Output>& v) { return OutputsOf(body(ListOfTensors(v))); }, options);
  CheckBuilt(graph);
  return ListOfTensors(results);
}

WhileOptions OptionsOf(int64_t parallel_iterations, bool back_prop, const std::string& name) {
  return {.parallel_iterations = parallel_iterations, .back_prop = back_prop, .name = name};
}

LoopBody BodyOf(const nb::callable& function) {
  return [&function](const std::vector<Output>& v) { return OutputsOf(function(ListOfTensors(v))); };
}

nb::list AddMap(Graph& graph, nb::callable function, nb::list elements, const std::vector<int>& dtypes,
                int64_t parallel_iterations, bool back_prop, const std::string& name) {
  std::vector<DType> types;
  for (const int dtype : dtypes) types.push_back(static_cast<DType>(dtype));
  const ScopeGuard at = AtUserLine(graph);
  const std::vector<Output> results =
      MapFn(BodyOf(function), OutputsOf(elements), types, OptionsOf(parallel_iterations, back_prop, name));
  CheckBuilt(graph);
  return ListOfTensors(results);
}

// Foldl and Scan, which have the same arguments.
template <auto kFold>
nb::list AddFold(Graph& graph, nb::callable function, nb::list elements, nb::list initial, int64_t parallel_iterations,
                 bool back_prop, const std::string& name) {
  const ScopeGuard at = AtUserLine(graph);
  const std::vector<Output> results =
      kFold(BodyOf(function), OutputsOf(elements), OutputsOf(initial), OptionsOf(parallel_iterations, back_prop, name),
            std::source_location::current());
  CheckBuilt(graph);
  return ListOfTensors(results);
}

}  // namespace

void BindControlFlow(Module& m) {
  m.def("cond", &AddCond, nb::arg("graph"), nb::arg("predicate"), nb::arg("if_true"), nb::arg("if_false"),
        nb::arg("name"));
  m.def("while_loop", &AddWhile, nb::arg("graph"), nb::arg("variables"), nb::arg("condition"), nb::arg("body"),
        nb::arg("parallel_iterations"), nb::arg("back_prop"), nb::arg("maximum_iterations").none(),
        nb::arg("shape_invariants"), nb::arg("name"));
  m.def("map_fn", &AddMap);
  m.def("foldl", &AddFold<&Foldl>);
  m.def("scan", &AddFold<&Scan>);
}

}  // namespace tensorbraid::python
