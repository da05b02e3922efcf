// Gradients that functions of Python define for single nodes.
#include <nanobind/stl/string.h>

#include <vector>

#include "binding/graph.h"
#include "graph/gradients/op_gradient.h"
#include "graph/model/graph_impl.h"
#include "graph/model/handles.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "tensorbraid/graph/custom_gradient.h"

namespace tensorbraid::python {
namespace {

// Calls graph._own_gradient(node, grads) of Python, where None stands for a gradient that does not exist. The function
// belongs to the graph of Python, so that C++ keeps no object of Python alive.
std::vector<Output> CallPython(const Operation& node, const std::vector<Output>& grads) {
  nb::list values;
  for (const Output& grad : grads) values.append(Wrap(grad));
  const nb::object graph = GraphObject(*node.graph());
  std::vector<Output> made;
  for (const nb::handle value : graph.attr("_own_gradient")(Wrap(node), values)) {
    made.push_back(value.is_none() ? Output() : nb::cast<PyTensor&>(value).output);
  }
  return made;
}

}  // namespace

void BindOwnGradients(Module& m) {
  // From now on, the gradient of the node is the one named `name`: a function of Python, or the gradient of the op of
  // this name if `is_op`. A saved graph has the name.
  m.def("set_own_gradient", [](const PyOperation& op, const std::string& name, bool is_op) {
    GraphImpl& graph = ImplOf(*op.operation.graph());
    const GraphLock lock(graph);
    graph.SetAttr(NodeOf(op.operation), "_gradient_op_type", AttrValue(name));
    SetGradient(op.operation, is_op ? Check(OpGradient(name)) : GradientFunction(CallPython));
  });
  // Whether C++ says how an op is differentiated, or that it is not.
  m.def("has_gradient", [](const std::string& op) {
    const OpDef* const found = OpRegistry::Global().Find(op);
    return found != nullptr && (found->has_gradient() || found->not_differentiable);
  });
}

}  // namespace tensorbraid::python
