// GRU cells: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// x is [batch, inputs] and h_prev is [batch, cells]; all outputs are [batch, cells].
Status GruCellShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape x, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape h_prev, c.WithRank(1, 2));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, {x.dim(0), h_prev.dim(1)});
  return OkStatus();
}

Status GruCellGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape x, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape h_prev, c.WithRank(1, 2));
  TF_ASSIGN_OR_RETURN(const Shape w_ru, c.WithRank(2, 2));
  c.set_output(0, x);
  c.set_output(1, {x.dim(0), h_prev.dim(1)});
  c.set_output(2, {x.dim(0), h_prev.dim(1)});
  c.set_output(3, {x.dim(0), w_ru.dim(1)});
  return OkStatus();
}

// GRUBlockCellGrad computes the gradients of x and h_prev, and the derivatives of the gates before their activation.
// The gradients of the weights are computed here from these derivatives. Only h (output 3) passes a gradient on; the
// other outputs exist for this function.
Status GruCellGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads[3].valid()) return OkStatus();
  const std::vector<Output>& in = NodeOf(op)->inputs();
  const Output x = in[0], h_prev = in[1], r = op.output(0);
  NodeBuilder builder(*op.graph(), "GRUBlockCellGrad");
  for (const Output& input : in) builder.Input(input);
  for (int i = 0; i < 3; ++i) builder.Input(op.output(i));  // r, u, c
  const Operation grad = builder.Input(grads[3]).Finish();
  if (!grad.valid()) return op.graph()->status();
  const Output c_bar = grad.output(2), ru_bar = grad.output(3);
  (*input_grads)[0] = grad.output(0);
  (*input_grads)[1] = grad.output(1);
  (*input_grads)[2] = MatMul(Concat({x, h_prev}, 1), ru_bar, {.transpose_a = true});
  (*input_grads)[3] = MatMul(Concat({x, h_prev * r}, 1), c_bar, {.transpose_a = true});
  (*input_grads)[4] = ReduceSum(ru_bar, 0);
  (*input_grads)[5] = ReduceSum(c_bar, 0);
  return OkStatus();
}

}  // namespace

void RegisterRnnGruOps(OpRegistry& r) {
  r.Add(Op("GRUBlockCell")
            .Input("x: T")
            .Input("h_prev: T")
            .Input("w_ru: T")
            .Input("w_c: T")
            .Input("b_ru: T")
            .Input("b_c: T")
            .Output("r: T")
            .Output("u: T")
            .Output("c: T")
            .Output("h: T")
            .Attr("T: {float}")
            .Shape(GruCellShape)
            .Gradient(GruCellGradient));
  r.Add(Op("GRUBlockCellGrad")
            .Input("x: T")
            .Input("h_prev: T")
            .Input("w_ru: T")
            .Input("w_c: T")
            .Input("b_ru: T")
            .Input("b_c: T")
            .Input("r: T")
            .Input("u: T")
            .Input("c: T")
            .Input("d_h: T")
            .Output("d_x: T")
            .Output("d_h_prev: T")
            .Output("d_c_bar: T")
            .Output("d_r_bar_u_bar: T")
            .Attr("T: {float}")
            .Shape(GruCellGradShape));
}

}  // namespace tensorbraid
