// The ops that loops and conditionals are made of. What they mean to a step is the executor's business
// (executor/frame_step.h): a Switch leaves one side dead, a Merge takes the live one, Enter, NextIteration and Exit
// move between frames and iterations.
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

Status SwitchShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(0));
  return OkStatus();
}

// What all inputs have in common. Of what comes around in a loop nothing is known yet.
Shape Common(ShapeContext& c, int first) {
  Shape common = c.input(first);
  for (int i = first + 1; i < c.num_inputs(); ++i) {
    const Shape& other = c.input(i);
    if (!common.has_rank() || !other.has_rank() || other.rank() != common.rank()) return Shape::Unknown();
    for (int d = 0; d < common.rank(); ++d) {
      if (common.dim(d) != other.dim(d)) common.set_dim(d, Shape::kUnknownDim);
    }
  }
  return common;
}

Status MergeShape(ShapeContext& c) {
  c.set_output(0, Common(c, 0));
  c.set_output(1, Shape());
  return OkStatus();
}

Status RefSelectShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  c.set_output(0, Common(c, 1));
  return OkStatus();
}

Status LoopCondShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape s, c.WithRank(0, 0));
  c.set_output(0, std::move(s));
  return OkStatus();
}

// An op in its two forms: of values, and of references to variables, which is stateful to us.
template <typename Define>
void AddBoth(OpRegistry& r, const char* by_value, const char* by_reference, Define define) {
  r.Add(define(Op(by_value), std::string("T")));
  r.Add(define(Op(by_reference), std::string("Ref(T)")).Stateful());
}

}  // namespace

void RegisterControlFlowOps(OpRegistry& r) {
  AddBoth(r, "Switch", "RefSwitch", [](Op op, const std::string& t) {
    return op.Input(("data: " + t).c_str())
        .Input("pred: bool")
        .Output(("output_false: " + t).c_str())
        .Output(("output_true: " + t).c_str())
        .Attr("T: type")
        .Shape(SwitchShape);
  });
  r.Add(Op("_SwitchN")
            .Input("data: T")
            .Input("output_index: int32")
            .Output("outputs: num_outs * T")
            .Attr("num_outs: int >= 1")
            .Attr("T: type")
            .Shape(SwitchShape));
  AddBoth(r, "Merge", "RefMerge", [](Op op, const std::string& t) {
    return op.Input(t == "T" ? "inputs: N * T" : "inputs: Ref(N * T)")
        .Output(("output: " + t).c_str())
        .Output("value_index: int32")
        .Attr("T: type")
        .Attr("N: int >= 1")
        .Shape(MergeShape);
  });
  AddBoth(r, "Enter", "RefEnter", [](Op op, const std::string& t) {
    return op.Input(("data: " + t).c_str())
        .Output(("output: " + t).c_str())
        .Attr("T: type")
        .Attr("frame_name: string")
        .Attr("is_constant: bool = false")
        .Attr("parallel_iterations: int = 10")
        .Shape(UnchangedShape);
  });
  for (const auto& [by_value, by_reference] :
       {std::pair("Exit", "RefExit"), std::pair("NextIteration", "RefNextIteration")}) {
    AddBoth(r, by_value, by_reference, [](Op op, const std::string& t) {
      return op.Input(("data: " + t).c_str()).Output(("output: " + t).c_str()).Attr("T: type").Shape(UnchangedShape);
    });
  }
  r.Add(Op("LoopCond").Input("input: bool").Output("output: bool").Shape(LoopCondShape).NotDifferentiable());
  r.Add(Op("ControlTrigger").Shape(NoOutputs).NotDifferentiable());
  r.Add(Op("Abort")
            .Attr("error_msg: string = ''")
            .Attr("exit_without_error: bool = false")
            .Shape(NoOutputs)
            .NotDifferentiable());
  r.Add(Op("RefSelect")
            .Input("index: int32")
            .Input("inputs: Ref(N * T)")
            .Output("output: Ref(T)")
            .Attr("T: type")
            .Attr("N: int >= 1")
            .Stateful()
            .Shape(RefSelectShape));
  r.Add(Op("RefIdentity")
            .Input("input: Ref(T)")
            .Output("output: Ref(T)")
            .Attr("T: type")
            .Stateful()
            .Shape(UnchangedShape));
}

}  // namespace tensorbraid
