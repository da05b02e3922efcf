#include "tensorbraid/optimizers/clip.h"

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid {

Output ClipByValue(const Operand& x, const Operand& low, const Operand& high, const std::string& name) {
  Graph* graph = GraphOf("ClipByValue", {&x, &low, &high});
  if (graph == nullptr) return {};
  const Output value = x.ToOutput(*graph);
  const Output least = low.ToOutput(*graph, value.dtype()), most = high.ToOutput(*graph, value.dtype());
  return NodeBuilder(*graph, "ClipByValue", x.location()).Name(name).Input(value).Input(least).Input(most).Output();
}

Output ClipByNorm(const Operand& x, const Operand& clip_norm, const Axes& axes, const std::string& name) {
  Graph* graph = GraphOf("ClipByNorm", {&x, &clip_norm});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  auto scope = graph->NameScope(name);
  const Output value = x.ToOutput(*graph);
  if (!value.valid()) return {};
  const Output limit = clip_norm.ToOutput(*graph, value.dtype());
  const Output squares = ReduceSum(value * value, axes, {.keep_dims = true});
  // The gradient of the square root is not finite at 0, so a sum of 0 bypasses the square root.
  const Output positive = Greater(squares, 0);
  const Output norm = Select(positive, Sqrt(Select(positive, squares, OnesLike(squares))), squares);
  Output clipped = (value * limit) / Maximum(norm, limit);
  // The result has the shape of the value, but shape inference may know it less exactly.
  if (clipped.valid() && clipped.shape().IsCompatibleWith(value.shape())) {
    ImplOf(*graph).RefineShape(NodeOf(clipped), 0, value.shape());
  }
  return clipped;
}

Output GlobalNorm(const std::vector<Output>& tensors, const std::string& name, std::source_location loc) {
  std::vector<Output> valid;
  for (const Output& tensor : tensors) {
    if (tensor.valid()) valid.push_back(tensor);
  }
  if (tensors.empty()) LogMistake("GlobalNorm", loc, kEmptyList);
  if (valid.empty()) return {};
  Graph& graph = *valid[0].graph(loc);
  const ScopedLocation at(graph, loc);
  auto scope = graph.NameScope(name);
  std::vector<Operand> halves;  // half of each tensor's squared norm
  for (const Output& tensor : valid) {
    auto place = graph.ColocateWith(tensor.op());
    halves.emplace_back(nn::L2Loss(tensor));
  }
  return Sqrt(ReduceSum(Stack(halves)) * 2.0);
}

GlobalNormClip ClipByGlobalNorm(const std::vector<Output>& tensors, const Operand& clip_norm, Output use_norm,
                                const std::string& name, std::source_location loc) {
  GlobalNormClip result{std::vector<Output>(tensors.size()), use_norm};
  Graph* graph = nullptr;
  for (const Output& tensor : tensors) graph = graph == nullptr ? tensor.graph(loc) : graph;
  if (graph == nullptr) return result;
  const ScopedLocation at(*graph, loc);
  if (!result.norm.valid()) result.norm = GlobalNorm(tensors, "global_norm", loc);
  if (!result.norm.valid()) return result;
  auto scope = graph->NameScope(name);
  const Output limit = clip_norm.ToOutput(*graph, result.norm.dtype());
  const Output finite = limit * Minimum(1.0 / result.norm, 1.0 / limit);
  const Output factor = finite + (result.norm - result.norm);  // NaN if the norm is infinite
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].valid()) continue;
    auto place = graph->ColocateWith(tensors[i].op());
    result.tensors[i] = tensors[i] * factor;
  }
  return result;
}

namespace {

// The tensor that clipping changes: the values of slices, or the dense gradient. As in TensorFlow, rows that occur
// several times are not summed before they are clipped.
const Output& ValuesOf(const Gradient& grad) { return grad.is_sparse() ? grad.slices().values : grad.dense(); }

Gradient WithValues(const Gradient& grad, const Output& values) {
  if (!grad.is_sparse()) return values;
  IndexedSlices slices = grad.slices();
  slices.values = values;
  return slices;
}

template <typename Clip>
std::vector<GradAndVar> ClipEach(const std::vector<GradAndVar>& grads, const std::source_location& loc,
                                 const Clip& clip) {
  std::vector<GradAndVar> clipped = grads;
  for (GradAndVar& g : clipped) {
    if (!g.grad.valid()) continue;
    const Output& values = ValuesOf(g.grad);
    const ScopedLocation at(*values.graph(loc), loc);
    auto place = values.graph()->ColocateWith(values.op());
    g.grad = WithValues(g.grad, clip(values));
  }
  return clipped;
}

}  // namespace

std::vector<GradAndVar> ClipByValue(const std::vector<GradAndVar>& grads, const Operand& low, const Operand& high,
                                    std::source_location loc) {
  return ClipEach(grads, loc, [&](const Output& grad) { return ClipByValue(grad, low, high); });
}

std::vector<GradAndVar> ClipByNorm(const std::vector<GradAndVar>& grads, const Operand& clip_norm,
                                   std::source_location loc) {
  return ClipEach(grads, loc, [&](const Output& grad) { return ClipByNorm(grad, clip_norm); });
}

std::vector<GradAndVar> ClipByGlobalNorm(const std::vector<GradAndVar>& grads, const Operand& clip_norm, Output* norm,
                                         std::source_location loc) {
  std::vector<Output> tensors;
  for (const GradAndVar& g : grads) tensors.push_back(g.grad.valid() ? ValuesOf(g.grad) : Output());
  const GlobalNormClip clip = ClipByGlobalNorm(tensors, clip_norm, {}, "clip_by_global_norm", loc);
  std::vector<GradAndVar> clipped = grads;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (grads[i].grad.valid()) clipped[i].grad = WithValues(grads[i].grad, clip.tensors[i]);
  }
  if (norm != nullptr) *norm = clip.norm;
  return clipped;
}

}  // namespace tensorbraid
