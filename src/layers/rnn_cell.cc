// The cells of recurrent layers. A whole sequence is computed by one op. A single step is computed by a fused op if
// there is one for the dtype, otherwise by several small ops.
#include "layers/rnn_cell.h"

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"
#include "tensorbraid/ops/rnn.h"

namespace tensorbraid::layers {
namespace {

// [x, h] kernel + bias.
Output Gates(Output x, Output h, Output kernel, Output bias) {
  return nn::BiasAdd(MatMul(Concat({x, h}, 1), kernel), bias);
}

class BoundLstm final : public BoundCell {
 public:
  BoundLstm(Graph& g, int64_t units, const LSTMCellOptions& options, int64_t features, DType dtype)
      : units_(units), options_(options), fused_((dtype == kFloat32 || dtype == kFloat16) && options.cell_clip <= 0) {
    kernel_ = MakeVariable(g, "kernel", {features + units, 4 * units}, dtype, options.initializer);
    bias_ = MakeVariable(g, "bias", {4 * units}, dtype, Zeros());
    if (options.use_peepholes) {
      forget_ = MakeVariable(g, "w_f_diag", {units}, dtype, options.initializer);
      input_ = MakeVariable(g, "w_i_diag", {units}, dtype, options.initializer);
      output_ = MakeVariable(g, "w_o_diag", {units}, dtype, options.initializer);
    }
    block_.forget_bias = static_cast<float>(options.forget_bias);
    if (options.use_peepholes) block_.peepholes = nn::LstmPeepholes{input_, forget_, output_};
  }

  StepResult Step(Output x, const std::vector<Output>& state) const override {
    if (fused_) {
      const nn::LstmBlockOutputs out = nn::LstmBlockCell(x, state[0], state[1], kernel_, bias_, block_);
      return {out.h, {out.cs, out.h}};
    }
    // The order of the gates is input, new value, forget, output.
    const auto gates = Split(Gates(x, state[1], kernel_, bias_), 4, 1);
    Output i = gates[0], f = gates[2] + options_.forget_bias, o = gates[3];
    if (options_.use_peepholes) {
      i = i + state[0] * input_;
      f = f + state[0] * forget_;
    }
    Output c = Sigmoid(f) * state[0] + Sigmoid(i) * Tanh(gates[1]);
    if (options_.cell_clip > 0) c = Maximum(Minimum(c, options_.cell_clip), -options_.cell_clip);
    if (options_.use_peepholes) o = o + c * output_;
    const Output h = Sigmoid(o) * Tanh(c);
    return {h, {c, h}};
  }

  SequenceResult Sequence(Output x, const std::vector<Output>& state, Output steps) const override {
    if (fused_) {
      const nn::LstmBlockOutputs out = nn::BlockLstm(x, state[0], state[1], kernel_, bias_, block_, steps);
      return {out.h, {out.cs, out.h}};
    }
    Graph& g = *x.graph();
    NodeBuilder builder(g, "_BlockLSTM");
    builder.Input(steps).Input(x).Input(state[0]).Input(state[1]).Input(kernel_);
    // The op needs vectors of this size even without peepholes.
    const Output unused = options_.use_peepholes ? Output() : StridedSlice(bias_, {0}, {units_}, {1});
    for (const Output& peephole : {input_, forget_, output_}) {
      builder.Input(options_.use_peepholes ? peephole : unused);
    }
    const Operation op = builder.Input(bias_)
                             .Input(Const(g, Tensor::Scalar(options_.forget_bias)))
                             .Input(Const(g, Tensor::Scalar(options_.cell_clip)))
                             .Attr("use_peephole", options_.use_peepholes)
                             .Finish();
    if (!op.valid()) return {Output(), {Output(), Output()}};
    return {op.output(6), {op.output(1), op.output(6)}};  // output 1 is cs, output 6 is h
  }

 private:
  const int64_t units_;
  const LSTMCellOptions options_;
  // Whether TensorFlow's fused ops can be used: they support two dtypes only, and their gradient ignores clipping.
  const bool fused_;
  nn::LstmBlockOptions block_;
  Output kernel_, bias_, input_, forget_, output_;
};

class BoundGru final : public BoundCell {
 public:
  BoundGru(Graph& g, int64_t units, const GRUCellOptions& options, int64_t features, DType dtype)
      : fused_(dtype == kFloat32) {
    const Initializer& bias = options.bias_initializer;
    {
      auto scope = g.VariableScope("gates");
      gates_ = MakeVariable(g, "kernel", {features + units, 2 * units}, dtype, options.kernel_initializer);
      gates_bias_ = MakeVariable(g, "bias", {2 * units}, dtype, bias ? bias : Ones());
    }
    auto scope = g.VariableScope("candidate");
    candidate_ = MakeVariable(g, "kernel", {features + units, units}, dtype, options.kernel_initializer);
    candidate_bias_ = MakeVariable(g, "bias", {units}, dtype, bias ? bias : Zeros());
  }

  StepResult Step(Output x, const std::vector<Output>& state) const override {
    const Output& before = state[0];
    if (fused_) {
      const Output h = nn::GruBlockCell(x, before, gates_, candidate_, gates_bias_, candidate_bias_).h;
      return {h, {h}};
    }
    // The reset gate and the update gate.
    const auto ru = Split(Sigmoid(Gates(x, before, gates_, gates_bias_)), 2, 1);
    const Output c = Tanh(Gates(x, ru[0] * before, candidate_, candidate_bias_));
    const Output h = ru[1] * (before - c) + c;
    return {h, {h}};
  }

  SequenceResult Sequence(Output x, const std::vector<Output>& state, Output steps) const override {
    const Operation op = NodeBuilder(*x.graph(), "_BlockGRU")
                             .Input(steps)
                             .Input(x)
                             .Input(state[0])
                             .Input(gates_)
                             .Input(candidate_)
                             .Input(gates_bias_)
                             .Input(candidate_bias_)
                             .Finish();
    const Output h = op.valid() ? op.output(3) : Output();  // the outputs are r, u, c and h
    return {h, {h}};
  }

 private:
  const bool fused_;
  Output gates_, gates_bias_, candidate_, candidate_bias_;
};

class BoundBasic final : public BoundCell {
 public:
  BoundBasic(Graph& g, int64_t units, const BasicRNNCellOptions& options, int64_t features, DType dtype)
      : kernel_(MakeVariable(g, "kernel", {features + units, units}, dtype, options.kernel_initializer)),
        bias_(MakeVariable(g, "bias", {units}, dtype, Zeros())) {}

  StepResult Step(Output x, const std::vector<Output>& state) const override {
    const Output h = Tanh(Gates(x, state[0], kernel_, bias_));
    return {h, {h}};
  }

  SequenceResult Sequence(Output x, const std::vector<Output>& state, Output steps) const override {
    const Output h =
        NodeBuilder(*x.graph(), "_BlockRNN").Input(steps).Input(x).Input(state[0]).Input(kernel_).Input(bias_).Output();
    return {h, {h}};
  }

 private:
  const Output kernel_, bias_;
};

// The description of a cell whose variables a `Bound` makes.
template <typename Bound, typename Options, int kStates>
class CellImpl final : public RnnCellImpl {
 public:
  CellImpl(int64_t units, const Options& options) : units_(units), options_(options) {}
  int64_t units() const override { return units_; }
  int num_states() const override { return kStates; }
  std::string scope_name() const override { return options_.name; }
  std::unique_ptr<BoundCell> Bind(Graph& g, int64_t features, DType dtype) const override {
    auto scope = g.VariableScope(options_.name);
    return std::make_unique<Bound>(g, units_, options_, features, dtype);
  }

 private:
  const int64_t units_;
  const Options options_;
};
using LstmImpl = CellImpl<BoundLstm, LSTMCellOptions, 2>;
using GruImpl = CellImpl<BoundGru, GRUCellOptions, 1>;
using BasicImpl = CellImpl<BoundBasic, BasicRNNCellOptions, 1>;

class MultiImpl final : public RnnCellImpl {
 public:
  MultiImpl(std::vector<RnnCell> cells, std::string name) : cells_(std::move(cells)), name_(std::move(name)) {}
  int64_t units() const override { return cells_.empty() ? 0 : RnnCellImpl::Of(cells_.back()).units(); }
  int num_states() const override {
    int states = 0;
    for (const RnnCell& cell : cells_) states += RnnCellImpl::Of(cell).num_states();
    return states;
  }
  std::string Mistake() const override {
    if (cells_.empty()) return "MultiRNNCell needs at least one cell";
    for (const RnnCell& cell : cells_) {
      if (std::string mistake = RnnCellImpl::Of(cell).Mistake(); !mistake.empty()) return mistake;
    }
    return "";
  }
  std::string scope_name() const override { return name_; }
  std::vector<RnnCell> layers() const override { return cells_; }
  std::unique_ptr<BoundCell> Bind(Graph&, int64_t, DType) const override { return nullptr; }

 private:
  const std::vector<RnnCell> cells_;
  const std::string name_;
};

}  // namespace

Output BoundCell::MakeVariable(Graph& graph, const std::string& name, const Shape& shape, DType dtype,
                               const Initializer& initializer) {
  const PartitionedVariable variable =
      GetPartitionedVariable(graph, name, shape, /*partitioner=*/nullptr, {.initializer = initializer, .dtype = dtype});
  variables_.insert(variables_.end(), variable.parts().begin(), variable.parts().end());
  return variable.AsTensor();
}

RnnCell LSTMCell(int64_t units, const LSTMCellOptions& options) {
  return RnnCellImpl::ToCell(std::make_shared<LstmImpl>(units, options));
}
RnnCell GRUCell(int64_t units, const GRUCellOptions& options) {
  return RnnCellImpl::ToCell(std::make_shared<GruImpl>(units, options));
}
RnnCell BasicRNNCell(int64_t units, const BasicRNNCellOptions& options) {
  return RnnCellImpl::ToCell(std::make_shared<BasicImpl>(units, options));
}
RnnCell MultiRNNCell(const std::vector<RnnCell>& cells, const std::string& name) {
  return RnnCellImpl::ToCell(std::make_shared<MultiImpl>(cells, name));
}

}  // namespace tensorbraid::layers
