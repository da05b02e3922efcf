// Softmax and cross entropy: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid {
namespace {

Status SoftmaxShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape logits, c.WithRankAtLeast(0, 1));
  c.set_output(0, std::move(logits));
  return OkStatus();
}

Status SoftmaxGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output s = op.output(0);
  (*input_grads)[0] = (grads[0] - ReduceSum(grads[0] * s, -1, {.keep_dims = true})) * s;
  return OkStatus();
}

Status LogSoftmaxGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = grads[0] - ReduceSum(grads[0], -1, {.keep_dims = true}) * Exp(op.output(0));
  return OkStatus();
}

Status CrossEntropyShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape logits, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape labels, c.WithRank(1, 2));
  TF_ASSIGN_OR_RETURN(Shape both, BroadcastShapes(logits, labels));
  c.set_output(0, {both.dim(0)});
  c.set_output(1, std::move(both));
  return OkStatus();
}

Status SparseCrossEntropyShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape logits, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape labels, c.WithRank(1, 1));
  auto rows = Shape({logits.dim(0)}).MergeWith(labels);
  if (!rows.ok()) {
    return InvalidArgument("logits and labels must have the same number of rows, got ", logits, " and ", labels);
  }
  logits.set_dim(0, rows->dim(0));
  c.set_output(0, *std::move(rows));
  c.set_output(1, std::move(logits));
  return OkStatus();
}

// Makes a matrix with one column of a vector.
Output ColumnOf(Output vector) {
  const Output at = Operand(Tensor::Scalar(int32_t{-1})).ToOutput(*vector.graph());
  return NodeBuilder(*vector.graph(), "ExpandDims").Input(vector).Input(at).Output();
}

// The gradient of the logits. The gradient of output 0, the loss, is multiplied by the derivative of the loss, which is
// output 1. If the graph takes a gradient of a gradient, output 1 has a gradient, too, which is multiplied by the
// derivative of softmax.
Output LogitsGradient(const Operation& op, const std::vector<Output>& grads) {
  Output g;
  if (grads[0].valid()) g = ColumnOf(grads[0]) * op.output(1);
  if (grads[1].valid()) {
    const Output s = nn::Softmax(NodeOf(op)->inputs()[0]);
    const Output second = (grads[1] - ReduceSum(grads[1] * s, -1, {.keep_dims = true})) * s;
    g = g.valid() ? g + second : second;
  }
  return g;
}

Status CrossEntropyGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output logits = NodeOf(op)->inputs()[0];
  const Output labels = NodeOf(op)->inputs()[1];
  (*input_grads)[0] = SumToOperand(LogitsGradient(op, grads), logits, labels);
  Output to_labels;
  if (grads[0].valid()) to_labels = ColumnOf(grads[0]) * -nn::LogSoftmax(logits);
  // Output 1 is softmax(logits) - labels.
  if (grads[1].valid()) to_labels = to_labels.valid() ? to_labels - grads[1] : -grads[1];
  (*input_grads)[1] = SumToOperand(to_labels, labels, logits);
  return OkStatus();
}

Status SparseCrossEntropyGradient(const Operation& op, const std::vector<Output>& grads,
                                  std::vector<Output>* input_grads) {
  (*input_grads)[0] = LogitsGradient(op, grads);
  return OkStatus();
}

}  // namespace

void RegisterNnSoftmaxOps(OpRegistry& r) {
  constexpr const char* kFloats = "T: {half, bfloat16, float, double}";
  r.Add(Op("Softmax")
            .Input("logits: T")
            .Output("softmax: T")
            .Attr(kFloats)
            .Shape(SoftmaxShape)
            .Gradient(SoftmaxGradient));
  r.Add(Op("LogSoftmax")
            .Input("logits: T")
            .Output("logsoftmax: T")
            .Attr(kFloats)
            .Shape(SoftmaxShape)
            .Gradient(LogSoftmaxGradient));
  r.Add(Op("SoftmaxCrossEntropyWithLogits")
            .Input("features: T")
            .Input("labels: T")
            .Output("loss: T")
            .Output("backprop: T")
            .Attr(kFloats)
            .Shape(CrossEntropyShape)
            .Gradient(CrossEntropyGradient));
  r.Add(Op("SparseSoftmaxCrossEntropyWithLogits")
            .Input("features: T")
            .Input("labels: Tlabels")
            .Output("loss: T")
            .Output("backprop: T")
            .Attr(kFloats)
            .Attr("Tlabels: {int32, int64} = DT_INT64")
            .Shape(SparseCrossEntropyShape)
            .Gradient(SparseCrossEntropyGradient));
}

}  // namespace tensorbraid
