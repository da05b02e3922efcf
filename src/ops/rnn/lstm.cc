// LSTM cells and sequences: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// x is [batch, inputs] and cs_prev is [batch, cells]; all outputs are [batch, cells].
Status LstmCellShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape x, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape cs_prev, c.WithRank(1, 2));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, {x.dim(0), cs_prev.dim(1)});
  return OkStatus();
}

Status LstmCellGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape x, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape cs_prev, c.WithRank(1, 2));
  const int64_t cells = cs_prev.dim(1);
  c.set_output(0, {x.dim(0), cells});
  c.set_output(1, {x.dim(0), cells < 0 ? Shape::kUnknownDim : 4 * cells});
  // Outputs 2 to 4 are the gradients of inputs 4 to 6, the weights of the peepholes. Without peepholes, these inputs
  // may have any shape, and their gradients have the same shape.
  const bool peephole = c.attr<bool>("use_peephole");
  for (int i = 2; i < 5; ++i) c.set_output(i, peephole ? Shape({cells}) : c.input(i + 2));
  return OkStatus();
}

// x is [time, batch, inputs] and b, input 8, is [4 * cells]; all outputs are [time, batch, cells].
Status BlockLstmShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape x, c.WithRank(1, 3));
  TF_ASSIGN_OR_RETURN(const Shape b, c.WithRank(8, 1));
  if (b.dim(0) >= 0 && b.dim(0) % 4 != 0) {
    return InvalidArgument("b must have 4 elements for each cell, got shape ", b);
  }
  const int64_t cells = b.dim(0) < 0 ? Shape::kUnknownDim : b.dim(0) / 4;
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, {x.dim(0), x.dim(1), cells});
  return OkStatus();
}

// The gradients of inputs 1 to 8 have the shapes of these inputs.
Status BlockLstmGradShape(ShapeContext& c) {
  constexpr int kRanks[] = {3, 2, 2, 2, 1, 1, 1, 1};
  for (int i = 0; i < c.num_outputs(); ++i) {
    TF_ASSIGN_OR_RETURN(Shape shape, c.WithRank(i + 1, kRanks[i]));
    c.set_output(i, std::move(shape));
  }
  return OkStatus();
}

Output GradientOrZeros(Output grad, Output of) { return grad.valid() ? grad : ZerosLike(of); }

// LSTMBlockCellGrad computes the derivatives of the gates before their activation. The gradients of x, h_prev, w and b
// are computed here from these derivatives. Only cs and h (outputs 1 and 6) pass a gradient on; the other outputs exist
// for this function.
Status LstmCellGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const std::vector<Output>& in = NodeOf(op)->inputs();
  const Output x = in[0], h_prev = in[2], w = in[3];
  NodeBuilder builder(*op.graph(), "LSTMBlockCellGrad");
  for (const Output& input : in) builder.Input(input);
  for (int i = 0; i < 6; ++i) builder.Input(op.output(i));  // i, cs, f, o, ci, co
  builder.Input(GradientOrZeros(grads[1], op.output(1))).Input(GradientOrZeros(grads[6], op.output(6)));
  const Operation grad = builder.Attr("use_peephole", NodeOf(op)->attr<bool>("use_peephole")).Finish();
  if (!grad.valid()) return op.graph()->status();
  const Output gates = grad.output(1);
  const Output xh_grad = MatMul(gates, w, {.transpose_b = true});
  const Output x_shape = ShapeOf(x), h_shape = ShapeOf(h_prev);
  // [x, h_prev] begins with x, so h_prev's part begins at column x.shape[1].
  const Output begin = x_shape * Tensor::Vector(std::vector<int32_t>{0, 1});
  (*input_grads)[0] = Slice(xh_grad, {0, 0}, x_shape);
  (*input_grads)[1] = grad.output(0);
  (*input_grads)[2] = Slice(xh_grad, begin, h_shape);
  (*input_grads)[3] = MatMul(Concat({x, h_prev}, 1), gates, {.transpose_a = true});
  if (NodeOf(op)->attr<bool>("use_peephole")) {
    for (int i = 0; i < 3; ++i) (*input_grads)[4 + i] = grad.output(2 + i);
  }
  (*input_grads)[7] = ReduceSum(gates, 0);
  return OkStatus();
}

// One node computes the gradients of a whole sequence. Only cs and h (outputs 1 and 6) pass a gradient on, as in
// TensorFlow. (TensorFlow's client also uses BlockLSTMGrad for BlockLSTMV2, although V2 has its gates in another
// order.)
Status BlockLstmGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const bool exact = op.type() == "_BlockLSTM";
  const std::vector<Output>& in = NodeOf(op)->inputs();
  NodeBuilder builder(*op.graph(), exact                      ? "_BlockLSTMGrad"
                                   : op.type() == "BlockLSTM" ? "BlockLSTMGrad"
                                                              : "BlockLSTMGradV2");
  for (int i = 0; i < 9; ++i) builder.Input(in[i]);  // seq_len_max to b
  for (int i = 0; i < 7; ++i) builder.Input(op.output(i));
  builder.Input(GradientOrZeros(grads[1], op.output(1))).Input(GradientOrZeros(grads[6], op.output(6)));
  if (exact) builder.Input(in[10]);  // cell_clip
  const bool peephole = NodeOf(op)->attr<bool>("use_peephole");
  const Operation grad = builder.Attr("use_peephole", peephole).Finish();
  if (!grad.valid()) return op.graph()->status();
  for (int i = 0; i < 8; ++i) {
    const bool is_peephole = i >= 4 && i < 7;  // wci, wcf and wco
    if (peephole || !is_peephole) (*input_grads)[i + 1] = grad.output(i);
  }
  return OkStatus();
}

Op CellInputs(Op op) {
  for (const char* input : {"x: T", "cs_prev: T", "h_prev: T", "w: T", "wci: T", "wcf: T", "wco: T", "b: T"}) {
    op.Input(input);
  }
  return op;
}

Op CellOutputs(Op op) {
  for (const char* output : {"i: T", "cs: T", "f: T", "o: T", "ci: T", "co: T", "h: T"}) op.Output(output);
  return op;
}

Op BlockLstmGrad(const char* name) {
  Op op = CellInputs(Op(name).Input("seq_len_max: int64"));
  for (const char* input : {"i: T", "cs: T", "f: T", "o: T", "ci: T", "co: T", "h: T", "cs_grad: T", "h_grad: T"}) {
    op.Input(input);
  }
  for (const char* output : {"x_grad: T", "cs_prev_grad: T", "h_prev_grad: T", "w_grad: T", "wci_grad: T",
                             "wcf_grad: T", "wco_grad: T", "b_grad: T"}) {
    op.Output(output);
  }
  return op.Attr("use_peephole: bool").Shape(BlockLstmGradShape);
}

}  // namespace

void RegisterRnnLstmOps(OpRegistry& r) {
  r.Add(CellOutputs(CellInputs(Op("LSTMBlockCell")))
            .Attr("forget_bias: float = 1.0")
            .Attr("cell_clip: float = 3.0")
            .Attr("use_peephole: bool = false")
            .Attr("T: {half, float}")
            .Shape(LstmCellShape)
            .Gradient(LstmCellGradient));
  r.Add(CellInputs(Op("LSTMBlockCellGrad"))
            .Input("i: T")
            .Input("cs: T")
            .Input("f: T")
            .Input("o: T")
            .Input("ci: T")
            .Input("co: T")
            .Input("cs_grad: T")
            .Input("h_grad: T")
            .Output("cs_prev_grad: T")
            .Output("dicfo: T")
            .Output("wci_grad: T")
            .Output("wcf_grad: T")
            .Output("wco_grad: T")
            .Attr("use_peephole: bool")
            .Attr("T: {half, float}")
            .Shape(LstmCellGradShape));
  r.Add(CellOutputs(CellInputs(Op("BlockLSTM").Input("seq_len_max: int64")))
            .Attr("forget_bias: float = 1.0")
            .Attr("cell_clip: float = 3.0")
            .Attr("use_peephole: bool = false")
            .Attr("T: {half, float}")
            .Shape(BlockLstmShape)
            .Gradient(BlockLstmGradient));
  r.Add(CellOutputs(CellInputs(Op("BlockLSTMV2").Input("seq_len_max: int64")))
            .Attr("cell_clip: float = 0.0")
            .Attr("use_peephole: bool = false")
            .Attr("T: {half, float}")
            .Shape(BlockLstmShape)
            .Gradient(BlockLstmGradient));
  for (const char* name : {"BlockLSTMGrad", "BlockLSTMGradV2"}) r.Add(BlockLstmGrad(name).Attr("T: {half, float}"));
  // BlockLSTM for all floats, with float64 options and a gradient that takes the clipping of cells into account. The
  // layers of tensorbraid/layers/rnn.h use it where BlockLSTM is not sufficient.
  r.Add(CellOutputs(CellInputs(Op("_BlockLSTM").Input("seq_len_max: int64"))
                        .Input("forget_bias: double")
                        .Input("cell_clip: double"))
            .Attr("use_peephole: bool = false")
            .Attr("T: {half, bfloat16, float, double}")
            .Shape(BlockLstmShape)
            .Gradient(BlockLstmGradient));
  r.Add(BlockLstmGrad("_BlockLSTMGrad").Input("cell_clip: double").Attr("T: {half, bfloat16, float, double}"));
}

}  // namespace tensorbraid
