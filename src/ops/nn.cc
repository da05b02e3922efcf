// Biases, softmax and losses: schemas, shape rules, gradients, functions.
#include "tensorbraid/nn.h"

#include "core/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/register.h"
#include "tensorbraid/math_ops.h"

namespace tensorbraid {
namespace {

int ChannelAxis(const Node& node, int rank) {
  const AttrValue* format = node.FindAttr("data_format");
  const bool first =
      format != nullptr && format->get<std::string>() != nullptr && *format->get<std::string>() == "NCHW";
  return first ? 1 : rank - 1;
}

Status BiasAddShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape value, c.WithRankAtLeast(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape bias, c.WithRank(1, 1));
  if (value.has_rank()) {
    const int at = ChannelAxis(c.node(), value.rank());
    if (!Shape({value.dim(at)}).IsCompatibleWith(bias)) {
      return InvalidArgument("bias ", bias, " must have one element for each of the ", value.dim(at), " channels of ",
                             value);
    }
    if (value.dim(at) < 0) value.set_dim(at, bias.dim(0));
  }
  c.set_output(0, std::move(value));
  return OkStatus();
}

Status BiasAddGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape value, c.WithRankAtLeast(0, 2));
  c.set_output(0, {value.has_rank() ? value.dim(ChannelAxis(c.node(), value.rank())) : Shape::kUnknownDim});
  return OkStatus();
}

Status BiasAddGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  NodeBuilder bias(*op.graph(), "BiasAddGrad");
  bias.Input(grads[0]);
  if (const AttrValue* format = op.node()->FindAttr("data_format")) bias.Attr("data_format", *format);
  *input_grads = {grads[0], bias.Output()};
  return OkStatus();
}

Status BiasAddGradGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "BiasAdd")
                          .Input(Node1("ZerosLike", op.node()->inputs()[0]))
                          .Input(grads[0])
                          .Attr("data_format", *op.node()->FindAttr("data_format"))
                          .Output();
  return OkStatus();
}

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

Output ColumnOf(Output vector) {
  const Output at = Operand(Tensor::Scalar(int32_t{-1})).ToOutput(*vector.graph());
  return NodeBuilder(*vector.graph(), "ExpandDims").Input(vector).Input(at).Output();
}

// What flows to the logits: from the loss by its derivative, output 1; and from output 1 itself, when somebody took the
// gradient of a gradient, by the derivative of softmax.
Output LogitsGradient(const Operation& op, const std::vector<Output>& grads) {
  Output g;
  if (grads[0].valid()) g = ColumnOf(grads[0]) * op.output(1);
  if (grads[1].valid()) {
    const Output s = nn::Softmax(op.node()->inputs()[0]);
    const Output second = (grads[1] - ReduceSum(grads[1] * s, -1, {.keep_dims = true})) * s;
    g = g.valid() ? g + second : second;
  }
  return g;
}

Status CrossEntropyGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output logits = op.node()->inputs()[0];
  const Output labels = op.node()->inputs()[1];
  (*input_grads)[0] = SumToOperand(LogitsGradient(op, grads), logits, labels);
  Output to_labels;
  if (grads[0].valid()) to_labels = ColumnOf(grads[0]) * -nn::LogSoftmax(logits);
  if (grads[1].valid()) to_labels = to_labels.valid() ? to_labels - grads[1] : -grads[1];
  (*input_grads)[1] = SumToOperand(to_labels, labels, logits);
  return OkStatus();
}

Status SparseCrossEntropyGradient(const Operation& op, const std::vector<Output>& grads,
                                  std::vector<Output>* input_grads) {
  (*input_grads)[0] = LogitsGradient(op, grads);
  return OkStatus();
}

Status L2LossGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = op.node()->inputs()[0] * grads[0];
  return OkStatus();
}

Status InTopKShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape predictions, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape targets, c.WithRank(1, 1));
  TF_ASSIGN_OR_RETURN(Shape rows, Shape({predictions.dim(0)}).MergeWith(targets));
  c.set_output(0, std::move(rows));
  return OkStatus();
}

}  // namespace

void RegisterNnOps(OpRegistry& r) {
  constexpr const char* kFloats = "T: {half, bfloat16, float, double}";
  constexpr const char* kFormat = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";
  r.Add(Op("BiasAdd")
            .Input("value: T")
            .Input("bias: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Attr(kFormat)
            .Shape(BiasAddShape)
            .Gradient(BiasAddGradient));
  r.Add(Op("BiasAddV1")
            .Input("value: T")
            .Input("bias: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Shape(BiasAddShape)
            .Gradient(BiasAddGradient));
  r.Add(Op("BiasAddGrad")
            .Input("out_backprop: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Attr(kFormat)
            .Shape(BiasAddGradShape)
            .Gradient(BiasAddGradGradient));
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
  r.Add(Op("L2Loss").Input("t: T").Output("output: T").Attr(kFloats).Shape(ScalarShape).Gradient(L2LossGradient));
  r.Add(Op("InTopK")
            .Input("predictions: float")
            .Input("targets: T")
            .Output("precision: bool")
            .Attr("k: int")
            .Attr("T: {int32, int64} = DT_INT32")
            .Shape(InTopKShape)
            .NotDifferentiable());
  r.Add(Op("InTopKV2")
            .Input("predictions: float")
            .Input("targets: T")
            .Input("k: T")
            .Output("precision: bool")
            .Attr("T: {int32, int64} = DT_INT32")
            .Shape(InTopKShape)
            .NotDifferentiable());
  RegisterActivationOps(r);
}

namespace nn {

Output BiasAdd(const Operand& value, const Operand& bias, const std::string& name) {
  return BinaryOp("BiasAdd", value, bias, name);
}
Output Softmax(const Operand& logits, const std::string& name) { return UnaryOp("Softmax", logits, name); }
Output LogSoftmax(const Operand& logits, const std::string& name) { return UnaryOp("LogSoftmax", logits, name); }
Output SoftmaxCrossEntropy(const Operand& labels, const Operand& logits, const std::string& name) {
  return BinaryOp("SoftmaxCrossEntropyWithLogits", logits, labels, name);
}
Output SparseSoftmaxCrossEntropy(const Operand& labels, const Operand& logits, const std::string& name) {
  return BinaryOp("SparseSoftmaxCrossEntropyWithLogits", logits, labels, name);
}
Output L2Loss(const Operand& x, const std::string& name) { return UnaryOp("L2Loss", x, name); }
Output InTopK(const Operand& predictions, const Operand& targets, int k, const std::string& name) {
  Graph* graph = GraphOf("InTopKV2", {&predictions, &targets});
  if (graph == nullptr) return {};
  const Output p = predictions.ToOutput(*graph);
  const Output t = targets.ToOutput(*graph);
  return NodeBuilder(*graph, "InTopKV2", predictions.location())
      .Name(name)
      .Input(p)
      .Input(t)
      .Input(Operand(k).ToOutput(*graph, t.dtype()))
      .Output();
}

}  // namespace nn
}  // namespace tensorbraid
