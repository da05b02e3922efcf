// Select: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status SelectShape(ShapeContext& c) {
  auto merged = c.input(1).MergeWith(c.input(2));
  if (!merged.ok()) {
    return InvalidArgument("'then' and 'else' must have the same shape, got ", c.input(1), " and ", c.input(2));
  }
  const Shape& condition = c.input(0);
  if (condition.has_rank() && condition.rank() != 0 && merged->has_rank()) {
    const bool per_row =
        condition.rank() == 1 && merged->rank() >= 1 && Shape({merged->dim(0)}).IsCompatibleWith(condition);
    if (!per_row && !condition.IsCompatibleWith(*merged)) {
      return InvalidArgument(
          "the condition must be a scalar, a vector with one element per row, or have the shape of "
          "'then' and 'else'; got condition ",
          condition, " for 'then' and 'else' ", *merged);
    }
  }
  c.set_output(0, *std::move(merged));
  return OkStatus();
}

Status SelectV2Shape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(c.input(1), c.input(2)));
  TF_ASSIGN_OR_RETURN(shape, BroadcastShapes(c.input(0), shape));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status SelectGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output condition = NodeOf(op)->inputs()[0];
  const Output zeros = Node1("ZerosLike", grads[0]);
  const auto select = [&](Output t, Output e) {
    return NodeBuilder(*op.graph(), "Select").Input(condition).Input(t).Input(e).Output();
  };
  *input_grads = {Output(), select(grads[0], zeros), select(zeros, grads[0])};
  return OkStatus();
}

Status SelectV2Gradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const Output g = grads[0];
  (*input_grads)[1] = SumToOperand(Select(in[0], g, 0.0), in[1], op.output(0));
  (*input_grads)[2] = SumToOperand(Select(in[0], 0.0, g), in[2], op.output(0));
  return OkStatus();
}

}  // namespace

void RegisterMathSelectOps(OpRegistry& r) {
  r.Add(Op("Select")
            .Input("condition: bool")
            .Input("t: T")
            .Input("e: T")
            .Output("output: T")
            .Attr("T: type")
            .Shape(SelectShape)
            .Gradient(SelectGradient));
  r.Add(Op("SelectV2")
            .Input("condition: bool")
            .Input("t: T")
            .Input("e: T")
            .Output("output: T")
            .Attr("T: type")
            .Shape(SelectV2Shape)
            .Gradient(SelectV2Gradient));
}

}  // namespace tensorbraid
