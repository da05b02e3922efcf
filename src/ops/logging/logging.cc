// Ops that check or print values while a step runs, and Timestamp: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Status AssertShape(ShapeContext& c) { return c.WithRank(0, 0).status(); }

// The gradient is checked by a CheckNumerics node as well.
Status CheckNumericsGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "CheckNumerics")
                          .Input(grads[0])
                          .Attr("message", "not a number or infinite in the gradient of " + op.name())
                          .Output();
  return OkStatus();
}

}  // namespace

void RegisterLoggingOps(OpRegistry& r) {
  r.Add(Op("Assert")
            .Input("condition: bool")
            .Input("data: T")
            .Attr("T: list(type) >= 1")
            .Attr("summarize: int = 3")
            .Stateful()
            .Shape(AssertShape)
            .NotDifferentiable());
  r.Add(Op("Print")
            .Input("input: T")
            .Input("data: U")
            .Output("output: T")
            .Attr("T: type")
            .Attr("U: list(type) >= 0")
            .Attr("message: string = ''")
            .Attr("first_n: int = -1")
            .Attr("summarize: int = 3")
            .Stateful()
            .Shape(UnchangedShape)
            .Gradient(PassGradient));
  r.Add(Op("PrintV2")
            .Input("input: string")
            .Attr("output_stream: string = 'stderr'")
            .Attr("end: string = '\n'")
            .Stateful()
            .Shape(AssertShape)
            .NotDifferentiable());
  for (const char* op : {"CheckNumerics", "CheckNumericsV2"}) {
    r.Add(Op(op)
              .Input("tensor: T")
              .Output("output: T")
              .Attr("T: {bfloat16, half, float, double}")
              .Attr("message: string")
              .Stateful()
              .Shape(UnchangedShape)
              .Gradient(CheckNumericsGradient));
  }
  r.Add(Op("Timestamp").Output("ts: float64").Stateful().Shape(ScalarShape).NotDifferentiable());
}

}  // namespace tensorbraid
