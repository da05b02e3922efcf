// Array ops that write elements or rows at given indices: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status ScatterNdShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
  TF_RETURN_IF_ERROR(c.WithRank(2, 1).status());
  TF_ASSIGN_OR_RETURN(Shape shape, c.input_as_shape(2));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status TensorScatterShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRankAtLeast(1, 1).status());
  return UnchangedShape(c);
}

Status ShapeFromAttr(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

Output Gathered(const Operation& op, Output from, Output indices) {
  return NodeBuilder(*op.graph(), "GatherNd").Input(from).Input(indices).Output();
}

Status ScatterNdGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[1] = Gathered(op, grads[0], NodeOf(op)->inputs()[0]);
  return OkStatus();
}

// No gradient flows to elements of the tensor that were overwritten.
Status TensorScatterUpdateGradient(const Operation& op, const std::vector<Output>& grads,
                                   std::vector<Output>* input_grads) {
  const auto& inputs = NodeOf(op)->inputs();
  (*input_grads)[0] = NodeBuilder(*op.graph(), "TensorScatterUpdate")
                          .Input(grads[0])
                          .Input(inputs[1])
                          .Input(Node1("ZerosLike", inputs[2]))
                          .Output();
  (*input_grads)[2] = Gathered(op, grads[0], inputs[1]);
  return OkStatus();
}

Status TensorScatterAddGradient(const Operation& op, const std::vector<Output>& grads,
                                std::vector<Output>* input_grads) {
  (*input_grads)[0] = grads[0];
  (*input_grads)[2] = Gathered(op, grads[0], NodeOf(op)->inputs()[1]);
  return OkStatus();
}

Status TensorScatterSubGradient(const Operation& op, const std::vector<Output>& grads,
                                std::vector<Output>* input_grads) {
  (*input_grads)[0] = grads[0];
  (*input_grads)[2] = Node1("Neg", Gathered(op, grads[0], NodeOf(op)->inputs()[1]));
  return OkStatus();
}

// Divides the gradient of an element of the result equally among those of its candidates that equal it: the element of
// the tensor, and the updates for this element.
Status TensorScatterExtremeGradient(const Operation& op, const std::vector<Output>& grads,
                                    std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const Output x = in[0], indices = in[1], updates = in[2], y = op.output(0);
  const Output kept = Cast(Equal(x, y), x.dtype());
  const Output chosen = Cast(Equal(updates, GatherNd(y, indices)), x.dtype());
  const Output counts =
      kept +
      NodeBuilder(*op.graph(), "ScatterNd").Input(indices).Input(chosen).Input(ShapeOf(x, indices.dtype())).Output();
  (*input_grads)[0] = grads[0] * kept / counts;
  (*input_grads)[2] = GatherNd(grads[0] / counts, indices) * chosen;
  return OkStatus();
}

}  // namespace

void RegisterArrayScatterOps(OpRegistry& r) {
  r.Add(Op("ScatterNd")
            .Input("indices: Tindices")
            .Input("updates: T")
            .Input("shape: Tindices")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tindices: {int16, int32, int64}")
            .Attr("bad_indices_policy: string = ''")
            .Shape(ScatterNdShape)
            .Gradient(ScatterNdGradient));
  r.Add(Op("ScatterNdNonAliasingAdd")
            .Input("input: T")
            .Input("indices: Tindices")
            .Input("updates: T")
            .Output("output: T")
            .Attr("T: {numbertype, bool}")
            .Attr("Tindices: {int32, int64}")
            .Attr("bad_indices_policy: string = ''")
            .Shape(TensorScatterShape)
            .Gradient(TensorScatterAddGradient));
  r.Add(Op("TensorScatterUpdate")
            .Input("tensor: T")
            .Input("indices: Tindices")
            .Input("updates: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tindices: {int16, int32, int64, uint16}")
            .Attr("bad_indices_policy: string = ''")
            .Shape(TensorScatterShape)
            .Gradient(TensorScatterUpdateGradient));
  r.Add(Op("TensorScatterAdd")
            .Input("tensor: T")
            .Input("indices: Tindices")
            .Input("updates: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tindices: {int32, int64}")
            .Attr("bad_indices_policy: string = ''")
            .Shape(TensorScatterShape)
            .Gradient(TensorScatterAddGradient));
  r.Add(Op("TensorScatterSub")
            .Input("tensor: T")
            .Input("indices: Tindices")
            .Input("updates: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tindices: {int32, int64}")
            .Attr("bad_indices_policy: string = ''")
            .Shape(TensorScatterShape)
            .Gradient(TensorScatterSubGradient));
  for (const char* op : {"TensorScatterMin", "TensorScatterMax"}) {
    r.Add(Op(op)
              .Input("tensor: T")
              .Input("indices: Tindices")
              .Input("updates: T")
              .Output("output: T")
              .Attr("T: type")
              .Attr("Tindices: {int32, int64}")
              .Attr("bad_indices_policy: string = ''")
              .Shape(TensorScatterShape)
              .Gradient(TensorScatterExtremeGradient));
  }
  for (const char* op : {"InplaceUpdate", "InplaceAdd", "InplaceSub"}) {
    r.Add(Op(op)
              .Input("x: T")
              .Input("i: int32")
              .Input("v: T")
              .Output("y: T")
              .Attr("T: type")
              .Shape(UnchangedShape)
              .NotDifferentiable());
  }
  r.Add(Op("ParallelConcat")
            .Input("values: N * T")
            .Output("output: T")
            .Attr("N: int >= 1")
            .Attr("T: type")
            .Attr("shape: shape")
            .Shape(ShapeFromAttr));
  r.Add(Op("_ParallelConcatStart")
            .Output("output: dtype")
            .Attr("shape: shape")
            .Attr("dtype: type")
            .Stateful()
            .Shape(ShapeFromAttr)
            .NotDifferentiable());
  r.Add(Op("_ParallelConcatUpdate")
            .Input("value: T")
            .Input("update: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("loc: int")
            .Impure()
            .Shape(UnchangedShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
