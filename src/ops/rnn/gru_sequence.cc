// GRUs over whole sequences: schemas, shape rules, gradient. The layers of tensorbraid/layers/rnn.h use these ops.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

// x is [time, batch, inputs] and h_prev is [batch, cells]; all outputs are [time, batch, cells].
Status BlockGruShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape x, c.WithRank(1, 3));
  TF_ASSIGN_OR_RETURN(const Shape h_prev, c.WithRank(2, 2));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, {x.dim(0), x.dim(1), h_prev.dim(1)});
  return OkStatus();
}

// The gradients of inputs 1 to 6 have the shapes of these inputs.
Status BlockGruGradShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(i + 1));
  return OkStatus();
}

// Only h (output 3) passes a gradient on; the other outputs exist for this function.
Status BlockGruGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads[3].valid()) return OkStatus();
  NodeBuilder builder(*op.graph(), "_BlockGRUGrad");
  for (const Output& input : NodeOf(op)->inputs()) builder.Input(input);
  for (int i = 0; i < 4; ++i) builder.Input(op.output(i));
  const Operation grad = builder.Input(grads[3]).Finish();
  if (!grad.valid()) return op.graph()->status();
  for (int i = 0; i < 6; ++i) (*input_grads)[i + 1] = grad.output(i);
  return OkStatus();
}

Op BlockGruInputs(const char* name) {
  Op op = Op(name).Input("seq_len_max: int64");
  for (const char* input : {"x: T", "h_prev: T", "w_ru: T", "w_c: T", "b_ru: T", "b_c: T"}) op.Input(input);
  return op.Attr("T: {half, bfloat16, float, double}");
}

}  // namespace

void RegisterRnnGruSequenceOps(OpRegistry& r) {
  // Computes the first seq_len_max steps of the sequence, each like GRUBlockCell. The outputs of later steps are 0.
  r.Add(BlockGruInputs("_BlockGRU")
            .Output("r: T")
            .Output("u: T")
            .Output("c: T")
            .Output("h: T")
            .Shape(BlockGruShape)
            .Gradient(BlockGruGradient));
  r.Add(BlockGruInputs("_BlockGRUGrad")
            .Input("r: T")
            .Input("u: T")
            .Input("c: T")
            .Input("h: T")
            .Input("h_grad: T")
            .Output("x_grad: T")
            .Output("h_prev_grad: T")
            .Output("w_ru_grad: T")
            .Output("w_c_grad: T")
            .Output("b_ru_grad: T")
            .Output("b_c_grad: T")
            .Shape(BlockGruGradShape));
}

}  // namespace tensorbraid
