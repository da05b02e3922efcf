// A function for each op of src/ops/rnn; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_RNN_H_
#define TENSORBRAID_RAW_OPS_RNN_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct BlockLSTMOptions {
  float forget_bias = 1.0f;
  float cell_clip = 3.0f;
  bool use_peephole = false;
  std::string name = {};
};
struct BlockLSTMOutputs {
  Output i;
  Output cs;
  Output f;
  Output o;
  Output ci;
  Output co;
  Output h;
  Operation operation;
};
// Adds a node of the op BlockLSTM. The usual function is nn::BlockLstm (ops/rnn.h). It has a gradient.
// Inputs: seq_len_max (int64), x (T), cs_prev (T), h_prev (T), w (T), wci (T), wcf (T), wco (T), b (T).
// Attributes: forget_bias (float; default 1), cell_clip (float; default 3), use_peephole (bool; default false).
// Outputs: i (T), cs (T), f (T), o (T), ci (T), co (T), h (T).
// T: float32 float16.
inline BlockLSTMOutputs BlockLSTM(const Operand& seq_len_max, const Operand& x, const Operand& cs_prev,
    const Operand& h_prev, const Operand& w, const Operand& wci, const Operand& wcf, const Operand& wco,
    const Operand& b, const BlockLSTMOptions& options = {}) {
  auto results = internal::Call("BlockLSTM", options.name, {seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b})
      .Attr("forget_bias", options.forget_bias).Attr("cell_clip", options.cell_clip)
      .Attr("use_peephole", options.use_peephole).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.Next(),
          results.Next(), results.operation()};
}

struct BlockLSTMGradOutputs {
  Output x_grad;
  Output cs_prev_grad;
  Output h_prev_grad;
  Output w_grad;
  Output wci_grad;
  Output wcf_grad;
  Output wco_grad;
  Output b_grad;
  Operation operation;
};
// Adds a node of the op BlockLSTMGrad.
// Inputs: seq_len_max (int64), x (T), cs_prev (T), h_prev (T), w (T), wci (T), wcf (T), wco (T), b (T), i (T), cs (T),
//   f (T), o (T), ci (T), co (T), h (T), cs_grad (T), h_grad (T).
// Attributes: use_peephole (bool).
// Outputs: x_grad (T), cs_prev_grad (T), h_prev_grad (T), w_grad (T), wci_grad (T), wcf_grad (T), wco_grad (T), b_grad
//   (T).
// T: float32 float16.
inline BlockLSTMGradOutputs BlockLSTMGrad(const Operand& seq_len_max, const Operand& x, const Operand& cs_prev,
    const Operand& h_prev, const Operand& w, const Operand& wci, const Operand& wcf, const Operand& wco,
    const Operand& b, const Operand& i, const Operand& cs, const Operand& f, const Operand& o, const Operand& ci,
    const Operand& co, const Operand& h, const Operand& cs_grad, const Operand& h_grad, bool use_peephole,
    const std::string& name = "") {
  auto results = internal::Call("BlockLSTMGrad", name, {seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f,
      o, ci, co, h, cs_grad, h_grad}).Attr("use_peephole", use_peephole).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.Next(),
          results.Next(), results.Next(), results.operation()};
}

struct BlockLSTMGradV2Outputs {
  Output x_grad;
  Output cs_prev_grad;
  Output h_prev_grad;
  Output w_grad;
  Output wci_grad;
  Output wcf_grad;
  Output wco_grad;
  Output b_grad;
  Operation operation;
};
// Adds a node of the op BlockLSTMGradV2.
// Inputs: seq_len_max (int64), x (T), cs_prev (T), h_prev (T), w (T), wci (T), wcf (T), wco (T), b (T), i (T), cs (T),
//   f (T), o (T), ci (T), co (T), h (T), cs_grad (T), h_grad (T).
// Attributes: use_peephole (bool).
// Outputs: x_grad (T), cs_prev_grad (T), h_prev_grad (T), w_grad (T), wci_grad (T), wcf_grad (T), wco_grad (T), b_grad
//   (T).
// T: float32 float16.
inline BlockLSTMGradV2Outputs BlockLSTMGradV2(const Operand& seq_len_max, const Operand& x, const Operand& cs_prev,
    const Operand& h_prev, const Operand& w, const Operand& wci, const Operand& wcf, const Operand& wco,
    const Operand& b, const Operand& i, const Operand& cs, const Operand& f, const Operand& o, const Operand& ci,
    const Operand& co, const Operand& h, const Operand& cs_grad, const Operand& h_grad, bool use_peephole,
    const std::string& name = "") {
  auto results = internal::Call("BlockLSTMGradV2", name, {seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs,
      f, o, ci, co, h, cs_grad, h_grad}).Attr("use_peephole", use_peephole).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.Next(),
          results.Next(), results.Next(), results.operation()};
}

struct BlockLSTMV2Options {
  float cell_clip = 0.0f;
  bool use_peephole = false;
  std::string name = {};
};
struct BlockLSTMV2Outputs {
  Output i;
  Output cs;
  Output f;
  Output o;
  Output ci;
  Output co;
  Output h;
  Operation operation;
};
// Adds a node of the op BlockLSTMV2. It has a gradient.
// Inputs: seq_len_max (int64), x (T), cs_prev (T), h_prev (T), w (T), wci (T), wcf (T), wco (T), b (T).
// Attributes: cell_clip (float; default 0), use_peephole (bool; default false).
// Outputs: i (T), cs (T), f (T), o (T), ci (T), co (T), h (T).
// T: float32 float16.
inline BlockLSTMV2Outputs BlockLSTMV2(const Operand& seq_len_max, const Operand& x, const Operand& cs_prev,
    const Operand& h_prev, const Operand& w, const Operand& wci, const Operand& wcf, const Operand& wco,
    const Operand& b, const BlockLSTMV2Options& options = {}) {
  auto results = internal::Call("BlockLSTMV2", options.name, {seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b})
      .Attr("cell_clip", options.cell_clip).Attr("use_peephole", options.use_peephole).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.Next(),
          results.Next(), results.operation()};
}

struct GRUBlockCellOutputs {
  Output r;
  Output u;
  Output c;
  Output h;
  Operation operation;
};
// Adds a node of the op GRUBlockCell. The usual function is nn::GruBlockCell (ops/rnn.h). It has a gradient.
// Inputs: x (T), h_prev (T), w_ru (T), w_c (T), b_ru (T), b_c (T).
// Outputs: r (T), u (T), c (T), h (T).
// T: float32.
inline GRUBlockCellOutputs GRUBlockCell(const Operand& x, const Operand& h_prev, const Operand& w_ru,
    const Operand& w_c, const Operand& b_ru, const Operand& b_c, const std::string& name = "") {
  auto results = internal::Call("GRUBlockCell", name, {x, h_prev, w_ru, w_c, b_ru, b_c}).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct GRUBlockCellGradOutputs {
  Output d_x;
  Output d_h_prev;
  Output d_c_bar;
  Output d_r_bar_u_bar;
  Operation operation;
};
// Adds a node of the op GRUBlockCellGrad.
// Inputs: x (T), h_prev (T), w_ru (T), w_c (T), b_ru (T), b_c (T), r (T), u (T), c (T), d_h (T).
// Outputs: d_x (T), d_h_prev (T), d_c_bar (T), d_r_bar_u_bar (T).
// T: float32.
inline GRUBlockCellGradOutputs GRUBlockCellGrad(const Operand& x, const Operand& h_prev, const Operand& w_ru,
    const Operand& w_c, const Operand& b_ru, const Operand& b_c, const Operand& r, const Operand& u, const Operand& c,
    const Operand& d_h, const std::string& name = "") {
  auto results = internal::Call("GRUBlockCellGrad", name, {x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h}).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct LSTMBlockCellOptions {
  float forget_bias = 1.0f;
  float cell_clip = 3.0f;
  bool use_peephole = false;
  std::string name = {};
};
struct LSTMBlockCellOutputs {
  Output i;
  Output cs;
  Output f;
  Output o;
  Output ci;
  Output co;
  Output h;
  Operation operation;
};
// Adds a node of the op LSTMBlockCell. The usual function is nn::LstmBlockCell (ops/rnn.h). It has a gradient.
// Inputs: x (T), cs_prev (T), h_prev (T), w (T), wci (T), wcf (T), wco (T), b (T).
// Attributes: forget_bias (float; default 1), cell_clip (float; default 3), use_peephole (bool; default false).
// Outputs: i (T), cs (T), f (T), o (T), ci (T), co (T), h (T).
// T: float32 float16.
inline LSTMBlockCellOutputs LSTMBlockCell(const Operand& x, const Operand& cs_prev, const Operand& h_prev,
    const Operand& w, const Operand& wci, const Operand& wcf, const Operand& wco, const Operand& b,
    const LSTMBlockCellOptions& options = {}) {
  auto results = internal::Call("LSTMBlockCell", options.name, {x, cs_prev, h_prev, w, wci, wcf, wco, b})
      .Attr("forget_bias", options.forget_bias).Attr("cell_clip", options.cell_clip)
      .Attr("use_peephole", options.use_peephole).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.Next(),
          results.Next(), results.operation()};
}

struct LSTMBlockCellGradOutputs {
  Output cs_prev_grad;
  Output dicfo;
  Output wci_grad;
  Output wcf_grad;
  Output wco_grad;
  Operation operation;
};
// Adds a node of the op LSTMBlockCellGrad.
// Inputs: x (T), cs_prev (T), h_prev (T), w (T), wci (T), wcf (T), wco (T), b (T), i (T), cs (T), f (T), o (T), ci (T),
//   co (T), cs_grad (T), h_grad (T).
// Attributes: use_peephole (bool).
// Outputs: cs_prev_grad (T), dicfo (T), wci_grad (T), wcf_grad (T), wco_grad (T).
// T: float32 float16.
inline LSTMBlockCellGradOutputs LSTMBlockCellGrad(const Operand& x, const Operand& cs_prev, const Operand& h_prev,
    const Operand& w, const Operand& wci, const Operand& wcf, const Operand& wco, const Operand& b, const Operand& i,
    const Operand& cs, const Operand& f, const Operand& o, const Operand& ci, const Operand& co, const Operand& cs_grad,
    const Operand& h_grad, bool use_peephole, const std::string& name = "") {
  auto results = internal::Call("LSTMBlockCellGrad", name, {x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci,
      co, cs_grad, h_grad}).Attr("use_peephole", use_peephole).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_RNN_H_
