// The cells of recurrent layers. LSTM and GRU use the fused ops for the dtypes that these have.
#include "api/layers/rnn_cell.h"

#include "core/strings.h"
#include "graph/node.h"
#include "tensorbraid/array_ops.h"
#include "tensorbraid/math_ops.h"
#include "tensorbraid/nn.h"
#include "tensorbraid/rnn_ops.h"

namespace tensorbraid::nn {
namespace {

Output CellVariable(Graph& g, const std::string& name, const Shape& shape, DType dtype,
                    const Initializer& initializer) {
  const GetVariableOptions options = {.initializer = initializer, .dtype = dtype};
  return GetPartitionedVariable(g, name, shape, /*partitioner=*/nullptr, options).AsTensor();
}

// [x, h] kernel + bias.
Output Gates(Output x, Output h, Output kernel, Output bias) {
  return BiasAdd(MatMul(Concat({x, h}, 1), kernel), bias);
}

class BoundLstm final : public BoundCell {
 public:
  BoundLstm(Graph& g, int64_t units, const LSTMCellOptions& options, int64_t features, DType dtype)
      : options_(options), fused_(dtype == kFloat32 || dtype == kFloat16) {
    kernel_ = CellVariable(g, "kernel", {features + units, 4 * units}, dtype, options.initializer);
    bias_ = CellVariable(g, "bias", {4 * units}, dtype, Zeros());
    if (options.use_peepholes) {
      forget_ = CellVariable(g, "w_f_diag", {units}, dtype, options.initializer);
      input_ = CellVariable(g, "w_i_diag", {units}, dtype, options.initializer);
      output_ = CellVariable(g, "w_o_diag", {units}, dtype, options.initializer);
    }
    block_.forget_bias = static_cast<float>(options.forget_bias);
    block_.cell_clip = static_cast<float>(options.cell_clip);
    if (options.use_peepholes) block_.peepholes = LstmPeepholes{input_, forget_, output_};
  }

  StepResult Step(Output x, const std::vector<Output>& state) const override {
    if (fused_) {
      const LstmBlockOutputs out = LstmBlockCell(x, state[0], state[1], kernel_, bias_, block_);
      return {out.h, {out.cs, out.h}};
    }
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

  std::optional<SequenceResult> Sequence(Output x, const std::vector<Output>& state, Output steps) const override {
    if (!fused_) return {};
    const LstmBlockOutputs out = BlockLstm(x, state[0], state[1], kernel_, bias_, block_, steps);
    return SequenceResult{out.h, {out.cs, out.h}};
  }

 private:
  const LSTMCellOptions options_;
  const bool fused_;
  LstmBlockOptions block_;
  Output kernel_, bias_, input_, forget_, output_;
};

class LstmImpl final : public RnnCellImpl {
 public:
  LstmImpl(int64_t units, LSTMCellOptions options) : units_(units), options_(std::move(options)) {}
  int64_t units() const override { return units_; }
  int num_states() const override { return 2; }
  std::string scope_name() const override { return options_.name; }
  std::unique_ptr<BoundCell> Bind(Graph& g, int64_t features, DType dtype) const override {
    auto scope = g.VariableScope(options_.name);
    return std::make_unique<BoundLstm>(g, units_, options_, features, dtype);
  }

 private:
  const int64_t units_;
  const LSTMCellOptions options_;
};

class BoundGru final : public BoundCell {
 public:
  BoundGru(Graph& g, int64_t units, const GRUCellOptions& options, int64_t features, DType dtype)
      : fused_(dtype == kFloat32) {
    const Initializer& bias = options.bias_initializer;
    {
      auto scope = g.VariableScope("gates");
      gates_ = CellVariable(g, "kernel", {features + units, 2 * units}, dtype, options.kernel_initializer);
      gates_bias_ = CellVariable(g, "bias", {2 * units}, dtype, bias ? bias : Ones());
    }
    auto scope = g.VariableScope("candidate");
    candidate_ = CellVariable(g, "kernel", {features + units, units}, dtype, options.kernel_initializer);
    candidate_bias_ = CellVariable(g, "bias", {units}, dtype, bias ? bias : Zeros());
  }

  StepResult Step(Output x, const std::vector<Output>& state) const override {
    const Output before = state[0];
    if (fused_) {
      const Output h = GruBlockCell(x, before, gates_, candidate_, gates_bias_, candidate_bias_).h;
      return {h, {h}};
    }
    const auto ru = Split(Sigmoid(Gates(x, before, gates_, gates_bias_)), 2, 1);
    const Output c = Tanh(Gates(x, ru[0] * before, candidate_, candidate_bias_));
    const Output h = ru[1] * (before - c) + c;
    return {h, {h}};
  }

 private:
  const bool fused_;
  Output gates_, gates_bias_, candidate_, candidate_bias_;
};

class GruImpl final : public RnnCellImpl {
 public:
  GruImpl(int64_t units, GRUCellOptions options) : units_(units), options_(std::move(options)) {}
  int64_t units() const override { return units_; }
  int num_states() const override { return 1; }
  std::string scope_name() const override { return options_.name; }
  std::unique_ptr<BoundCell> Bind(Graph& g, int64_t features, DType dtype) const override {
    auto scope = g.VariableScope(options_.name);
    return std::make_unique<BoundGru>(g, units_, options_, features, dtype);
  }

 private:
  const int64_t units_;
  const GRUCellOptions options_;
};

class BoundBasic final : public BoundCell {
 public:
  BoundBasic(Graph& g, int64_t units, const BasicRNNCellOptions& options, int64_t features, DType dtype)
      : kernel_(CellVariable(g, "kernel", {features + units, units}, dtype, options.kernel_initializer)),
        bias_(CellVariable(g, "bias", {units}, dtype, Zeros())) {}

  StepResult Step(Output x, const std::vector<Output>& state) const override {
    const Output h = Tanh(Gates(x, state[0], kernel_, bias_));
    return {h, {h}};
  }

 private:
  const Output kernel_, bias_;
};

class BasicImpl final : public RnnCellImpl {
 public:
  BasicImpl(int64_t units, BasicRNNCellOptions options) : units_(units), options_(std::move(options)) {}
  int64_t units() const override { return units_; }
  int num_states() const override { return 1; }
  std::string scope_name() const override { return options_.name; }
  std::unique_ptr<BoundCell> Bind(Graph& g, int64_t features, DType dtype) const override {
    auto scope = g.VariableScope(options_.name);
    return std::make_unique<BoundBasic>(g, units_, options_, features, dtype);
  }

 private:
  const int64_t units_;
  const BasicRNNCellOptions options_;
};

class MultiImpl final : public RnnCellImpl {
 public:
  MultiImpl(std::vector<RnnCell> cells, std::string name) : cells_(std::move(cells)), name_(std::move(name)) {}
  int64_t units() const override { return cells_.empty() ? 0 : cells_.back().impl().units(); }
  int num_states() const override {
    int states = 0;
    for (const RnnCell& cell : cells_) states += cell.impl().num_states();
    return states;
  }
  std::string Mistake() const override {
    if (cells_.empty()) return "MultiRNNCell needs at least one cell";
    for (const RnnCell& cell : cells_) {
      if (std::string mistake = cell.impl().Mistake(); !mistake.empty()) return mistake;
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

RnnCell LSTMCell(int64_t units, const LSTMCellOptions& options) {
  return RnnCell(std::make_shared<LstmImpl>(units, options));
}
RnnCell GRUCell(int64_t units, const GRUCellOptions& options) {
  return RnnCell(std::make_shared<GruImpl>(units, options));
}
RnnCell BasicRNNCell(int64_t units, const BasicRNNCellOptions& options) {
  return RnnCell(std::make_shared<BasicImpl>(units, options));
}
RnnCell MultiRNNCell(const std::vector<RnnCell>& cells, const std::string& name) {
  return RnnCell(std::make_shared<MultiImpl>(cells, name));
}

}  // namespace tensorbraid::nn
