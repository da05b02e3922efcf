#include "ops/builder.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

Graph* GraphOf(const char* op, std::initializer_list<const Operand*> operands) {
  bool constants_only = operands.size() > 0;
  for (const Operand* operand : operands) {
    if (Graph* graph = operand->graph(); graph != nullptr) return graph;
    if (!operand->is_number() && operand->dtype() == DType::kInvalid) constants_only = false;
  }
  if (constants_only) LogMistake(op, (*operands.begin())->location(), "no operand belongs to a graph");
  return nullptr;
}

Graph* GraphOf(const char* op, const std::vector<Operand>& operands, const std::source_location& loc) {
  if (operands.empty()) LogMistake(op, loc, kEmptyList);
  for (const Operand& operand : operands) {
    if (operand.graph() != nullptr || (!operand.is_number() && operand.dtype() == DType::kInvalid)) {
      return GraphOf(op, {&operand});
    }
  }
  return operands.empty() ? nullptr : GraphOf(op, {&operands[0]});
}

Output UnaryOp(const char* op, const Operand& x, const std::string& name) {
  Graph* graph = GraphOf(op, {&x});
  if (graph == nullptr) return {};
  return NodeBuilder(*graph, op, x.location()).Name(name).Input(x.ToOutput(*graph)).Output();
}

Output BinaryOp(const char* op, const Operand& x, const Operand& y, const std::string& name) {
  Graph* graph = GraphOf(op, {&x, &y});
  if (graph == nullptr) return {};
  // Converts both operands first, so that constants for them are created before the node.
  const Output a = x.ToOutput(*graph, y.dtype());
  const Output b = y.ToOutput(*graph, x.dtype());
  return NodeBuilder(*graph, op, x.location()).Name(name).Input(a).Input(b).Output();
}

Output Conjugated(Output x) { return IsComplex(BaseType(x.dtype())) ? Node1("Conj", x) : x; }

SeedPair SeedsOf(Graph& graph, int64_t seed) {
  constexpr int64_t kDefaultGraphSeed = 87654321;
  if (graph.random_seed() != 0) {
    return {graph.random_seed(), seed != 0 ? seed : static_cast<int64_t>(ImplOf(graph).num_nodes())};
  }
  return seed != 0 ? SeedPair{kDefaultGraphSeed, seed} : SeedPair{0, 0};
}

Output ConstantVector(Graph& graph, const std::vector<int64_t>& values) {
  return Operand(Tensor::Vector(std::vector<int32_t>(values.begin(), values.end()))).ToOutput(graph);
}

namespace {

enum class BroadcastExtent { kNone, kAxes, kUnknown };

// Finds the axes along which x is broadcast in an op with y: the first `*lacking` axes, which x does not have, and the
// axes in `*ones`, where x has size 1.
BroadcastExtent BroadcastExtentOf(const Shape& x, const Shape& y, int* lacking, std::vector<int64_t>* ones) {
  if (!x.has_rank() || !y.has_rank()) return BroadcastExtent::kUnknown;
  const int rank = std::max(x.rank(), y.rank());
  *lacking = rank - x.rank();
  for (int i = *lacking; i < rank; ++i) {
    const int64_t own = x.dim(i - *lacking);
    const int at = i - (rank - y.rank());
    const int64_t other = at < 0 ? 1 : y.dim(at);
    if (other == 1 || own > 1 || own == 0) continue;
    if (own < 0) return BroadcastExtent::kUnknown;
    ones->push_back(i);
  }
  return *lacking == 0 && ones->empty() ? BroadcastExtent::kNone : BroadcastExtent::kAxes;
}

}  // namespace

Output SumToOperand(Output grad, Output x, Output y) {
  if (!grad.valid() || x == y) return grad;
  int lacking = 0;
  std::vector<int64_t> ones;
  switch (BroadcastExtentOf(x.shape(), y.shape(), &lacking, &ones)) {
    case BroadcastExtent::kNone:
      return grad;
    case BroadcastExtent::kAxes: {
      if (!ones.empty()) grad = ReduceSum(grad, ones, {.keep_dims = true});
      if (lacking == 0) return grad;
      std::vector<int64_t> leading(lacking);
      for (int i = 0; i < lacking; ++i) leading[i] = i;
      return ReduceSum(grad, leading);
    }
    case BroadcastExtent::kUnknown:
      break;
  }
  Graph& graph = *grad.graph();
  const Output x_shape = Node1("Shape", x);
  const Output axes = NodeBuilder(graph, "BroadcastGradientArgs").Input(x_shape).Input(Node1("Shape", y)).Output();
  return NodeBuilder(graph, "Reshape").Input(ReduceSum(grad, axes)).Input(x_shape).Output();
}

void SumToOperands(Output x, Output y, Output grad_x, Output grad_y, std::vector<Output>* input_grads) {
  (*input_grads)[0] = SumToOperand(grad_x, x, y);
  (*input_grads)[1] = SumToOperand(grad_y, y, x);
}

Output SumToBatch(Output grad, Output x, Output y) {
  if (!grad.valid()) return grad;
  if (x.shape().has_rank() && y.shape().has_rank()) {
    const Shape bx(x.shape().dims().first(x.shape().rank() - 2)), by(y.shape().dims().first(y.shape().rank() - 2));
    if (bx.rank() == 0 && by.rank() == 0) return grad;
    if (bx == by && bx.is_fully_defined()) return grad;
  }
  Graph& graph = *grad.graph();
  const auto batch_shape = [&](Output t) { return StridedSlice(Node1("Shape", t), {0}, {-2}, {1}, {.begin_mask = 1}); };
  const Output axes = NodeBuilder(graph, "BroadcastGradientArgs").Input(batch_shape(x)).Input(batch_shape(y)).Output();
  return NodeBuilder(graph, "Reshape").Input(ReduceSum(grad, axes)).Input(Node1("Shape", x)).Output();
}

std::vector<Output> FilledGradients(const Operation& op, const std::vector<Output>& grads) {
  std::vector<Output> filled = grads;
  for (size_t i = 0; i < filled.size(); ++i) {
    if (!filled[i].valid()) filled[i] = Node1("ZerosLike", op.output(static_cast<int>(i)));
  }
  return filled;
}

Status SameShapes(ShapeContext& c) {
  Shape shape = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    auto merged = shape.MergeWith(c.input(i));
    if (!merged.ok()) {
      return InvalidArgument("inputs must have the same shape, got ", shape, " and ", c.input(i), " (input ", i, ")");
    }
    shape = *std::move(merged);
  }
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status PassGradient(const Operation&, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  for (size_t i = 0; i < grads.size(); ++i) (*input_grads)[i] = grads[i];
  return OkStatus();
}

Status PassSlices(const Operation&, const std::vector<Gradient>& grads, std::vector<Gradient>* input_grads) {
  for (size_t i = 0; i < grads.size(); ++i) (*input_grads)[i] = grads[i];
  return OkStatus();
}

}  // namespace tensorbraid
