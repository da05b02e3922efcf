// Recurrent layers that run without a loop of the graph.
#include "tensorbraid/layers/rnn.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "binding/graph.h"
#include "graph/model/graph_impl.h"
#include "variables/variable_scopes.h"

namespace tensorbraid::python {
namespace {

struct PyRnnCell {
  layers::RnnCell cell;
};

// Gives the open variable scope the defaults of Python's scope while an object of this class exists.
class ScopeDefaults {
 public:
  ScopeDefaults(Graph& graph, Reuse::Mode reuse, nb::handle initializer, nb::handle regularizer)
      : graph_(graph), before_(Open()) {
    VariableScopes::Scope& scope = Open();
    scope.reuse = reuse;
    scope.reuse_line = ImplOf(graph).UserLine(std::source_location::current());
    scope.initializer = InitializerOf(initializer);
    scope.regularizer = RegularizerOf(regularizer);
  }
  ~ScopeDefaults() { Open() = std::move(before_); }
  ScopeDefaults(const ScopeDefaults&) = delete;
  ScopeDefaults& operator=(const ScopeDefaults&) = delete;

 private:
  VariableScopes::Scope& Open() { return ImplOf(graph_).thread_extension<VariableScopes>().open.back(); }
  Graph& graph_;
  VariableScopes::Scope before_;
};

// The outputs, the last state, and a list of the variables of each cell. REQUIRES: a variable scope of Python is open.
nb::tuple DynamicRnn(PyRnnCell& cell, PyTensor& x, nb::handle lengths, nb::list initial_state, bool time_major,
                     const std::string& scope, Reuse::Mode reuse, nb::handle initializer, nb::handle regularizer) {
  Graph& graph = *x.output.graph();
  const ScopeGuard at = AtUserLine(graph);
  const ScopeDefaults defaults(graph, reuse, initializer, regularizer);
  layers::RnnOptions options = {.time_major = time_major, .name = scope + "/"};
  if (!lengths.is_none()) options.lengths = OutputFor(graph, lengths, kInt32, "sequence_length");
  for (const nb::handle state : initial_state) {
    options.initial_state.push_back(OutputFor(graph, state, x.output.dtype(), "state"));
  }
  const layers::RnnResult result = layers::DynamicRnn(cell.cell, x.output, options);
  const Status status = graph.TakeStatus();
  if (absl::IsInvalidArgument(status)) throw nb::value_error(std::string(status.message()).c_str());
  Check(status);
  nb::list state;
  for (const Output& part : result.state) state.append(Wrap(part));
  nb::list variables;
  for (const std::vector<Variable>& of_cell : result.variables) {
    nb::list list;
    for (const Variable& variable : of_cell) list.append(Wrap(variable));
    variables.append(list);
  }
  return nb::make_tuple(Wrap(result.outputs), state, variables);
}

}  // namespace

void BindRnn(Module& m) {
  Class<PyRnnCell>(m, "RnnCell");
  m.def(
      "lstm_cell",
      [](int64_t units, double forget_bias, double cell_clip, bool use_peepholes, nb::handle initializer,
         const std::string& name) {
        return PyRnnCell{layers::LSTMCell(units, {.forget_bias = forget_bias,
                                                  .cell_clip = cell_clip,
                                                  .use_peepholes = use_peepholes,
                                                  .initializer = InitializerOf(initializer),
                                                  .name = name})};
      },
      nb::arg("units"), nb::arg("forget_bias"), nb::arg("cell_clip"), nb::arg("use_peepholes"),
      nb::arg("initializer").none(), nb::arg("name"));
  m.def(
      "gru_cell",
      [](int64_t units, nb::handle kernel_initializer, nb::handle bias_initializer, const std::string& name) {
        return PyRnnCell{layers::GRUCell(units, {.kernel_initializer = InitializerOf(kernel_initializer),
                                                 .bias_initializer = InitializerOf(bias_initializer),
                                                 .name = name})};
      },
      nb::arg("units"), nb::arg("kernel_initializer").none(), nb::arg("bias_initializer").none(), nb::arg("name"));
  m.def("basic_rnn_cell",
        [](int64_t units, const std::string& name) { return PyRnnCell{layers::BasicRNNCell(units, {.name = name})}; });
  m.def("multi_rnn_cell", [](nb::list cells, const std::string& name) {
    std::vector<layers::RnnCell> list;
    for (const nb::handle cell : cells) list.push_back(nb::cast<PyRnnCell&>(cell).cell);
    return PyRnnCell{layers::MultiRNNCell(list, name)};
  });
  m.def("dynamic_rnn", &DynamicRnn, nb::arg("cell"), nb::arg("x"), nb::arg("lengths").none(), nb::arg("initial_state"),
        nb::arg("time_major"), nb::arg("scope"), nb::arg("reuse"), nb::arg("initializer").none(),
        nb::arg("regularizer").none());
}

}  // namespace tensorbraid::python
