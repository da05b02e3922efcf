// Recurrent layers.
//
//   auto y = layers::DynamicRnn(layers::LSTMCell(128), x, {.lengths = lengths});  // x is [batch, time, features]
//   y.outputs;                                                            // [batch, time, 128]
//   auto both = layers::BidirectionalRnn(layers::LSTMCell(128), layers::LSTMCell(128), x, {.lengths = lengths});
//   auto deep = layers::DynamicRnn(layers::MultiRNNCell({layers::LSTMCell(128), layers::GRUCell(64)}), x);
//
// The layers make the cells' variables with GetVariable, in variable scopes that are named as in tf.compat.v1.nn:
// "rnn/lstm_cell/kernel", "bidirectional_rnn/fw/gru_cell/gates/bias". So variables are placed by the open device scopes
// and shared in scopes with `.reuse = true` (see variables/variable_scope.h), and checkpoints can be exchanged with
// TensorFlow. Mistakes are recorded in Graph::status(), with the name of the layer and the line of the call.
#ifndef TENSORBRAID_LAYERS_RNN_H_
#define TENSORBRAID_LAYERS_RNN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/variables/variable_scope.h"

namespace tensorbraid::layers {

class RnnCellImpl;

// The description of a cell: its kind, size and options. It has no variables, so it can be used for several layers,
// each of which has weights of its own. A handle: copies refer to the same description. Thread-safe.
class RnnCell {
 private:
  friend class RnnCellImpl;
  explicit RnnCell(std::shared_ptr<const RnnCellImpl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const RnnCellImpl> impl_;
};

struct LSTMCellOptions {
  double forget_bias = 1.0;  // added to the bias of the forget gate
  double cell_clip = 0.0;    // cells are clipped to [-cell_clip, cell_clip] if this is positive
  bool use_peepholes = false;
  Initializer initializer = nullptr;  // of the kernel and the peepholes; null: GetVariable's default
  std::string name = "lstm_cell";
};
// Computes [i, j, f, o] = [x, h] kernel + bias; c = c sigmoid(f + forget_bias) + sigmoid(i) tanh(j); h = tanh(c)
// sigmoid(o), which is the output. State: {c, h}. Variables: "kernel" [features + units, 4 units], "bias" [4 units]
// and, with peepholes, "w_i_diag", "w_f_diag" and "w_o_diag" [units]. Source: Hochreiter and Schmidhuber, 1997.
RnnCell LSTMCell(int64_t units, const LSTMCellOptions& options = {});

struct GRUCellOptions {
  Initializer kernel_initializer = nullptr;  // null: GetVariable's default
  Initializer bias_initializer = nullptr;    // null: ones for the gates, zeros for the candidate
  std::string name = "gru_cell";
};
// Computes [r, u] = sigmoid([x, h] gates/kernel + gates/bias); c = tanh([x, r h] candidate/kernel + candidate/bias);
// h = u h + (1 - u) c, which is the output. State: {h}. Source: Cho et al., 2014.
RnnCell GRUCell(int64_t units, const GRUCellOptions& options = {});

struct BasicRNNCellOptions {
  Initializer kernel_initializer = nullptr;  // null: GetVariable's default
  std::string name = "basic_rnn_cell";
};
// Computes h = tanh([x, h] kernel + bias), which is the output. State: {h}.
RnnCell BasicRNNCell(int64_t units, const BasicRNNCellOptions& options = {});

// Cells on top of each other: the output of each cell is the input of the next. State: the states of all cells, one
// after the other. Variable scopes: "multi_rnn_cell/cell_0", "multi_rnn_cell/cell_1", ...
RnnCell MultiRNNCell(const std::vector<RnnCell>& cells, const std::string& name = "multi_rnn_cell");

struct RnnOptions {
  // int32 or int64 [batch]: the number of steps of each sequence. Outputs of later steps are 0, and the state stays as
  // it was after the sequence's last step. Without lengths, all sequences are as long as the input.
  std::optional<Operand> lengths = {};
  // The state before the first step, as RnnResult::state; empty: zeros.
  std::vector<Output> initial_state = {};
  bool time_major = false;  // x and outputs are [time, batch, features]
  std::string name = {};    // of the variable scope; "": "rnn", "rnn_1", ...
};

// The variables of each cell, which the layer has made or, in a scope with `.reuse = true`, shares. The cells of a
// MultiRNNCell are one after the other. A partitioned variable has several entries, its parts.
using CellVariables = std::vector<std::vector<Variable>>;

struct RnnResult {
  Output outputs;             // [batch, time, units]
  std::vector<Output> state;  // after the last step of each sequence; see the cell
  CellVariables variables;
};

// Runs a cell over sequences x [batch, time, features] of float16, bfloat16, float32 or float64. The number of features
// must be known; the sizes of the batch and of time may be unknown, and differ from run to run. Nothing is unrolled:
// each layer of cells is one op that computes all steps, so the graph does not grow with their number. Gradients flow
// to x, the initial state and the variables.
RnnResult DynamicRnn(const RnnCell& cell, const Operand& x, const RnnOptions& options = {});

struct StaticRnnResult {
  std::vector<Output> outputs;  // of each step, [batch, units]
  std::vector<Output> state;
  CellVariables variables;
};
// Runs a cell over one tensor [batch, features] for each step. The graph is unrolled: each step has nodes of its own,
// so the time to build it grows with the number of steps. A step starts as soon as its inputs are available, so layers
// on several devices work at the same time. `time_major` has no meaning here.
StaticRnnResult StaticRnn(const RnnCell& cell, const std::vector<Output>& x, const RnnOptions& options = {},
                          std::source_location loc = std::source_location::current());

struct BidirectionalRnnOptions {
  std::optional<Operand> lengths = {};  // as in RnnOptions
  bool time_major = false;
  std::string name = {};  // of the variable scope; "": "bidirectional_rnn", "bidirectional_rnn_1", ...
};
struct BidirectionalRnnResult {
  Output outputs;            // forward and backward, side by side: [batch, time, units of both]
  Output forward, backward;  // each by itself
  std::vector<Output> forward_state, backward_state;
  CellVariables forward_variables, backward_variables;
};
// Runs one cell over the sequences and another over the reversed sequences, whose outputs are reversed again. Only the
// first `lengths` steps of a sequence are reversed. Otherwise as DynamicRnn, and not unrolled either. Source: Schuster
// and Paliwal, 1997.
BidirectionalRnnResult BidirectionalRnn(const RnnCell& forward, const RnnCell& backward, const Operand& x,
                                        const BidirectionalRnnOptions& options = {});

}  // namespace tensorbraid::layers

#endif  // TENSORBRAID_LAYERS_RNN_H_
