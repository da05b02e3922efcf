// Basic recurrent networks over whole sequences: schemas, shape rules, gradient. The layers of tensorbraid/layers/rnn.h
// use these ops.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

// x is [time, batch, inputs] and h_prev is [batch, cells]; the output is [time, batch, cells].
Status BlockBasicShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape x, c.WithRank(1, 3));
  TF_ASSIGN_OR_RETURN(const Shape h_prev, c.WithRank(2, 2));
  c.set_output(0, {x.dim(0), x.dim(1), h_prev.dim(1)});
  return OkStatus();
}

// The gradients of inputs 1 to 4 have the shapes of these inputs.
Status BlockBasicGradShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(i + 1));
  return OkStatus();
}

Status BlockBasicGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  NodeBuilder builder(*op.graph(), "_BlockRNNGrad");
  for (const Output& input : NodeOf(op)->inputs()) builder.Input(input);
  const Operation grad = builder.Input(op.output(0)).Input(grads[0]).Finish();
  if (!grad.valid()) return op.graph()->status();
  for (int i = 0; i < 4; ++i) (*input_grads)[i + 1] = grad.output(i);
  return OkStatus();
}

Op BlockBasicInputs(const char* name) {
  Op op = Op(name).Input("seq_len_max: int64");
  for (const char* input : {"x: T", "h_prev: T", "w: T", "b: T"}) op.Input(input);
  return op.Attr("T: {half, bfloat16, float, double}");
}

}  // namespace

void RegisterRnnBasicSequenceOps(OpRegistry& r) {
  // Computes h = tanh([x, h_prev] w + b) for the first seq_len_max steps. The outputs of later steps are 0.
  r.Add(BlockBasicInputs("_BlockRNN").Output("h: T").Shape(BlockBasicShape).Gradient(BlockBasicGradient));
  r.Add(BlockBasicInputs("_BlockRNNGrad")
            .Input("h: T")
            .Input("h_grad: T")
            .Output("x_grad: T")
            .Output("h_prev_grad: T")
            .Output("w_grad: T")
            .Output("b_grad: T")
            .Shape(BlockBasicGradShape));
}

}  // namespace tensorbraid
