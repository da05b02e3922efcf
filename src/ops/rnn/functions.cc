// The public functions that compute recurrent cells and sequences by single ops.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/rnn.h"

namespace tensorbraid::nn {
namespace {

LstmBlockOutputs LstmOutputs(const Operation& op) {
  if (!op.valid()) return {};
  return {op.output(0), op.output(1), op.output(2), op.output(3), op.output(4), op.output(5), op.output(6)};
}

// Adds the inputs wci, wcf, wco and b, and the attributes. wci, wcf and wco are the weights of the peepholes. Even
// without peepholes, the ops require vectors with one element per cell for them.
Operation FinishLstm(NodeBuilder& builder, Graph& graph, Output cs_prev, Output b, const LstmBlockOptions& options) {
  if (options.peepholes.has_value()) {
    builder.Input(options.peepholes->input.ToOutput(graph))
        .Input(options.peepholes->forget.ToOutput(graph))
        .Input(options.peepholes->output.ToOutput(graph));
  } else {
    // Uses the first elements of the bias. Their number is taken from the shape of cs_prev when a step runs, because
    // the number of cells may not be known while building the graph.
    const Output unused =
        cs_prev.valid() && b.valid() ? Slice(b, {0}, StridedSlice(ShapeOf(cs_prev), {1}, {2}, {1})) : Output();
    for (int i = 0; i < 3; ++i) builder.Input(unused);
  }
  return builder.Name(options.name)
      .Input(b)
      .Attr("forget_bias", options.forget_bias)
      .Attr("cell_clip", options.cell_clip)
      .Attr("use_peephole", options.peepholes.has_value())
      .Finish();
}

}  // namespace

LstmBlockOutputs LstmBlockCell(const Operand& x, const Operand& cs_prev, const Operand& h_prev, const Operand& w,
                               const Operand& b, const LstmBlockOptions& options, std::source_location loc) {
  Graph* graph = GraphOf("LSTMBlockCell", {&x, &cs_prev, &h_prev, &w, &b});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, loc);
  const Output state = cs_prev.ToOutput(*graph);
  NodeBuilder builder(*graph, "LSTMBlockCell", loc);
  builder.Input(x.ToOutput(*graph)).Input(state).Input(h_prev.ToOutput(*graph)).Input(w.ToOutput(*graph));
  return LstmOutputs(FinishLstm(builder, *graph, state, b.ToOutput(*graph), options));
}

LstmBlockOutputs BlockLstm(const Operand& x, const Operand& cs_prev, const Operand& h_prev, const Operand& w,
                           const Operand& b, const LstmBlockOptions& options, const std::optional<Operand>& steps,
                           std::source_location loc) {
  Graph* graph = GraphOf("BlockLSTM", {&x, &cs_prev, &h_prev, &w, &b});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, loc);
  const Output sequence = x.ToOutput(*graph);
  const Output state = cs_prev.ToOutput(*graph);
  Output count;
  if (steps.has_value()) {
    count = steps->ToOutput(*graph, kInt64);
    if (count.dtype() == kInt32) count = Cast(count, kInt64);
  } else if (sequence.valid()) {
    count = StridedSlice(ShapeOf(sequence, kInt64), {0}, {1}, {1}, {.shrink_axis_mask = 1});
  }
  NodeBuilder builder(*graph, "BlockLSTM", loc);
  builder.Input(count).Input(sequence).Input(state).Input(h_prev.ToOutput(*graph)).Input(w.ToOutput(*graph));
  return LstmOutputs(FinishLstm(builder, *graph, state, b.ToOutput(*graph), options));
}

GruBlockOutputs GruBlockCell(const Operand& x, const Operand& h_prev, const Operand& w_ru, const Operand& w_c,
                             const Operand& b_ru, const Operand& b_c, const std::string& name,
                             std::source_location loc) {
  Graph* graph = GraphOf("GRUBlockCell", {&x, &h_prev, &w_ru, &w_c, &b_ru, &b_c});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, loc);
  const Operation op = NodeBuilder(*graph, "GRUBlockCell", loc)
                           .Name(name)
                           .Input(x.ToOutput(*graph))
                           .Input(h_prev.ToOutput(*graph))
                           .Input(w_ru.ToOutput(*graph))
                           .Input(w_c.ToOutput(*graph))
                           .Input(b_ru.ToOutput(*graph))
                           .Input(b_c.ToOutput(*graph))
                           .Finish();
  if (!op.valid()) return {};
  return {op.output(0), op.output(1), op.output(2), op.output(3)};
}

}  // namespace tensorbraid::nn
