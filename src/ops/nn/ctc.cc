// Connectionist temporal classification: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// Checks input 0, the logits [time, batch, classes], and input number `lengths`, which is [batch]. Returns the shape of
// the logits.
StatusOr<Shape> LogitsShape(ShapeContext& c, int lengths) {
  TF_ASSIGN_OR_RETURN(Shape logits, c.WithRank(0, 3));
  TF_ASSIGN_OR_RETURN(const Shape batch, c.WithRank(lengths, 1));
  auto rows = Shape({logits.dim(1)}).MergeWith(batch);
  if (!rows.ok()) {
    return InvalidArgument("sequence_length must have one element for each of the ", logits.dim(1),
                           " sequences of inputs ", logits, ", got shape ", batch);
  }
  logits.set_dim(1, rows->dim(0));
  return logits;
}

Status CtcLossShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape logits, LogitsShape(c, 3));
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRank(1, 2));
  TF_ASSIGN_OR_RETURN(const Shape values, c.WithRank(2, 1));
  TF_RETURN_IF_ERROR(Shape({indices.dim(0)}).MergeWith(values).status());
  c.set_output(0, {logits.dim(1)});
  c.set_output(1, std::move(logits));
  return OkStatus();
}

Status CtcGreedyShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape logits, LogitsShape(c, 1));
  c.set_output(0, {Shape::kUnknownDim, 2});
  c.set_output(1, {Shape::kUnknownDim});
  c.set_output(2, {2});
  c.set_output(3, {logits.dim(1), 1});
  return OkStatus();
}

Status CtcBeamShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape logits, LogitsShape(c, 1));
  // Each path has three outputs: indices, values and shape. The last output has the scores of all paths.
  const int paths = (c.num_outputs() - 1) / 3;
  for (int i = 0; i < paths; ++i) {
    c.set_output(i, {Shape::kUnknownDim, 2});
    c.set_output(paths + i, {Shape::kUnknownDim});
    c.set_output(2 * paths + i, {2});
  }
  c.set_output(3 * paths, {logits.dim(1), paths});
  return OkStatus();
}

// The kernel computes the derivative of each loss together with the loss. Like TensorFlow, it has no second derivative.
Status CtcLossGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (grads[1].valid()) {
    return InvalidArgument("the CTC loss has no second derivative, so nothing may depend on output 1 of ", op.type());
  }
  const Output derivative = PreventGradient(
      op.output(1), "the CTC loss has no second derivative: its gradient is computed together with the loss");
  // [batch] becomes [batch, 1], to be multiplied with [time, batch, classes].
  (*input_grads)[0] = ExpandDims(grads[0], -1) * derivative;
  return OkStatus();
}

}  // namespace

void RegisterNnCtcOps(OpRegistry& r) {
  r.Add(Op("CTCLoss")
            .Input("inputs: T")
            .Input("labels_indices: int64")
            .Input("labels_values: int32")
            .Input("sequence_length: int32")
            .Output("loss: T")
            .Output("gradient: T")
            .Attr("preprocess_collapse_repeated: bool = false")
            .Attr("ctc_merge_repeated: bool = true")
            .Attr("ignore_longer_outputs_than_inputs: bool = false")
            .Attr("T: {float, double} = DT_FLOAT")
            .Shape(CtcLossShape)
            .Gradient(CtcLossGradient));
  r.Add(Op("CTCLossV2")
            .Input("inputs: float")
            .Input("labels_indices: int64")
            .Input("labels_values: int32")
            .Input("sequence_length: int32")
            .Output("loss: float")
            .Output("gradient: float")
            .Attr("preprocess_collapse_repeated: bool = false")
            .Attr("ctc_merge_repeated: bool = true")
            .Attr("ignore_longer_outputs_than_inputs: bool = false")
            .Shape(CtcLossShape)
            .Gradient(CtcLossGradient));
  r.Add(Op("CTCGreedyDecoder")
            .Input("inputs: T")
            .Input("sequence_length: int32")
            .Output("decoded_indices: int64")
            .Output("decoded_values: int64")
            .Output("decoded_shape: int64")
            .Output("log_probability: T")
            .Attr("merge_repeated: bool = false")
            .Attr("blank_index: int = -1")
            .Attr("T: {float, double} = DT_FLOAT")
            .Shape(CtcGreedyShape)
            .NotDifferentiable());
  r.Add(Op("CTCBeamSearchDecoder")
            .Input("inputs: T")
            .Input("sequence_length: int32")
            .Output("decoded_indices: top_paths * int64")
            .Output("decoded_values: top_paths * int64")
            .Output("decoded_shape: top_paths * int64")
            .Output("log_probability: T")
            .Attr("beam_width: int >= 1")
            .Attr("top_paths: int >= 1")
            .Attr("merge_repeated: bool = true")
            .Attr("T: {float, double} = DT_FLOAT")
            .Shape(CtcBeamShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
