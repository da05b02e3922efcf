// Branches of layers that train or infer, and recurrent layers that run without a loop of the graph.
#include "tensorbraid/layers/layers.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "binding/graph.h"
#include "layers/branches.h"
#include "tensorbraid/layers/rnn.h"

namespace tensorbraid::python {
namespace {

std::vector<Output> OutputsOf(nb::handle tensors) {
  std::vector<Output> outputs;
  for (const nb::handle tensor : tensors) outputs.push_back(nb::cast<PyTensor&>(tensor).output);
  return outputs;
}

nb::list Wrapped(const std::vector<Output>& outputs) {
  nb::list list;
  for (const Output& output : outputs) list.append(Wrap(output));
  return list;
}

// Functions of Python from a list of tensors to a list of tensors.
nb::list SelectBranch(PyTensor& training, nb::list inputs, nb::callable train, nb::callable infer) {
  Graph& graph = *training.output.graph();
  const ScopeGuard at = AtUserLine(graph);
  const auto branch = [](nb::handle function) -> layers::Branch {
    return [function](const std::vector<Output>& in) { return OutputsOf(function(Wrapped(in))); };
  };
  const auto outputs = layers::SelectBranch(training.output, OutputsOf(inputs), branch(train), branch(infer));
  CheckBuilt(graph);
  return Wrapped(outputs);
}

}  // namespace

void BindLayers(nb::module_& m) { m.def("select_branch", &SelectBranch); }

}  // namespace tensorbraid::python
