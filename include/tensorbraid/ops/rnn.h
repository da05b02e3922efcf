// Recurrent cells as single ops: one step or a whole sequence of an LSTM, and one step of a GRU. Layers that own their
// weights are in layers/rnn.h.
#ifndef TENSORBRAID_OPS_RNN_H_
#define TENSORBRAID_OPS_RNN_H_

#include <optional>
#include <source_location>
#include <string>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid::nn {

// The weights with which the cells influence the gates. Each is a vector [cells].
struct LstmPeepholes {
  Operand input;
  Operand forget;
  Operand output;
};

struct LstmBlockOptions {
  float forget_bias = 1.0f;  // added to the bias of the forget gate
  float cell_clip = -1.0f;   // cells are clipped to [-cell_clip, cell_clip]; 0 or less: not at all
  std::optional<LstmPeepholes> peepholes = {};
  std::string name = {};
};

// The state after a step, and the gates, from which the gradient is computed. All have shape [batch, cells], or for a
// sequence [time, batch, cells]. Gradients flow through cs and h.
struct LstmBlockOutputs {
  Output i;   // input gate
  Output cs;  // cells
  Output f;   // forget gate
  Output o;   // output gate
  Output ci;  // tanh of the cell input
  Output co;  // tanh of the cells
  Output h;   // o * co: the output of the layer
};

// One step of an LSTM:
//   [gi, gc, gf, go] = [x, h_prev] w + b
//   i = sigmoid(gi + peepholes.input * cs_prev), f = sigmoid(gf + forget_bias + peepholes.forget * cs_prev)
//   cs = clip(i * tanh(gc) + f * cs_prev), o = sigmoid(go + peepholes.output * cs), h = o * tanh(cs)
// x is [batch, inputs], cs_prev and h_prev are [batch, cells], w is [inputs + cells, 4 cells], b is [4 cells]. All
// operands are float16 or all are float32; the op computes in float32. All operands have gradients, which ignore the
// clipping, as in TensorFlow. Source: Zaremba et al., 2014.
LstmBlockOutputs LstmBlockCell(const Operand& x, const Operand& cs_prev, const Operand& h_prev, const Operand& w,
                               const Operand& b, const LstmBlockOptions& options = {},
                               std::source_location loc = std::source_location::current());
// All steps of a sequence x [time, batch, inputs] as one op, which computes the products of x for all steps at once.
// `steps`, an int64 scalar (by default the size of the time dimension), is the number of steps to compute; the outputs
// of later steps are 0. Otherwise as LstmBlockCell.
LstmBlockOutputs BlockLstm(const Operand& x, const Operand& cs_prev, const Operand& h_prev, const Operand& w,
                           const Operand& b, const LstmBlockOptions& options = {},
                           const std::optional<Operand>& steps = {},
                           std::source_location loc = std::source_location::current());

// The state after a step and the gates, all [batch, cells]. Gradients flow through h.
struct GruBlockOutputs {
  Output r;  // reset gate
  Output u;  // update gate
  Output c;  // candidate
  Output h;  // the new state, and the output of the layer
};
// One step of a GRU:
//   [r, u] = sigmoid([x, h_prev] w_ru + b_ru)
//   c = tanh([x, r * h_prev] w_c + b_c), h = u * h_prev + (1 - u) * c
// x is [batch, inputs], h_prev is [batch, cells], w_ru is [inputs + cells, 2 cells], w_c is [inputs + cells, cells],
// b_ru is [2 cells], b_c is [cells]. All operands are float32, and all have gradients. Source: Cho et al., 2014.
GruBlockOutputs GruBlockCell(const Operand& x, const Operand& h_prev, const Operand& w_ru, const Operand& w_c,
                             const Operand& b_ru, const Operand& b_c, const std::string& name = "",
                             std::source_location loc = std::source_location::current());

}  // namespace tensorbraid::nn

#endif  // TENSORBRAID_OPS_RNN_H_
