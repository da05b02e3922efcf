// The public functions of the logging op family, and ReadFile.
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/logging.h"

namespace tensorbraid {
namespace {

std::vector<Output> TensorsOf(Graph& graph, const std::vector<Operand>& operands) {
  std::vector<Output> tensors;
  for (const Operand& operand : operands) tensors.push_back(operand.ToOutput(graph));
  return tensors;
}

}  // namespace

Output Print(const Operand& input, const std::vector<Operand>& data, const PrintOptions& options) {
  Graph* graph = GraphOf("Print", {&input});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, input.location());
  const Output x = input.ToOutput(*graph);
  return NodeBuilder(*graph, "Print")
      .Name(options.name)
      .Input(x)
      .InputList(TensorsOf(*graph, data))
      .Attr("message", options.message)
      .Attr("first_n", options.first_n)
      .Attr("summarize", options.summarize)
      .Output();
}

Operation Assert(const Operand& condition, const std::vector<Operand>& data, const AssertOptions& options) {
  Graph* graph = GraphOf("Assert", {&condition});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, condition.location());
  const Output holds = condition.ToOutput(*graph, kBool);
  return NodeBuilder(*graph, "Assert")
      .Name(options.name)
      .Input(holds)
      .InputList(TensorsOf(*graph, data))
      .Attr("summarize", options.summarize)
      .Finish();
}

Output ReadFile(const Operand& filename, const std::string& name) { return UnaryOp("ReadFile", filename, name); }

}  // namespace tensorbraid
