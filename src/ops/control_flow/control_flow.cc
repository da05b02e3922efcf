// The ops that implement loops and conditionals: schemas, shape rules, gradients. The executor gives them their meaning
// (executor/frame_step.h): a Switch makes one of its outputs dead, a Merge forwards its live input, and Enter,
// NextIteration and Exit move values between frames and iterations.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

Status SwitchShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(0));
  return OkStatus();
}

// The shape that is compatible with every input from number `first` on. The input of a loop's Merge that comes from its
// NextIteration has an unknown shape at this point, which makes the result unknown too.
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

// The first output has the shape that the inputs have in common. The second, the number of the input that was taken, is
// a scalar.
Status MergeShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(ScalarShape(c));
  c.set_output(0, Common(c, 0));
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

// The input gets the gradient of the output that was alive. If that output has no gradient, the input gets zeros.
Status SwitchGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  std::vector<Output> branches;
  for (int i = 0; i < 2; ++i) branches.push_back(grads[i].valid() ? grads[i] : ZerosLike(op.output(i)));
  (*input_grads)[0] = NodeBuilder(*op.graph(), "Merge").InputList(branches).Output();
  return OkStatus();
}

// The gradient goes to the input that was forwarded. The other inputs are dead, and so are their gradients.
Status MergeGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& inputs = NodeOf(op)->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].valid() || NodeOf(inputs[i])->type() == "NextIteration") {
      return InvalidArgument("no gradient is defined for the loop of ", NodeOf(op)->Describe());
    }
    const Output forwarded = Node2("Equal", op.output(1), Operand(static_cast<int32_t>(i)).ToOutput(*op.graph()));
    (*input_grads)[i] = NodeBuilder(*op.graph(), "Switch").Input(grads[0]).Input(forwarded).Finish().output(1);
  }
  return OkStatus();
}

// Adds an op in two forms: one for values, and one for references to variables. The reference form is stateful here,
// although it is not in TensorFlow.
template <typename Define>
void AddBoth(OpRegistry& r, const char* by_value, const char* by_reference, Define define) {
  r.Add(define(Op(by_value), std::string("T")));
  r.Add(define(Op(by_reference), std::string("Ref(T)")).Stateful());
}

}  // namespace

void RegisterControlFlowOps(OpRegistry& r) {
  AddBoth(r, "Switch", "RefSwitch", [](Op op, const std::string& t) {
    op.Input(("data: " + t).c_str())
        .Input("pred: bool")
        .Output(("output_false: " + t).c_str())
        .Output(("output_true: " + t).c_str())
        .Attr("T: type")
        .Shape(SwitchShape);
    if (t == "T") op.Gradient(SwitchGradient);
    return op;
  });
  r.Add(Op("_SwitchN")
            .Input("data: T")
            .Input("output_index: int32")
            .Output("outputs: num_outs * T")
            .Attr("num_outs: int >= 1")
            .Attr("T: type")
            .Shape(SwitchShape));
  AddBoth(r, "Merge", "RefMerge", [](Op op, const std::string& t) {
    op.Input(t == "T" ? "inputs: N * T" : "inputs: Ref(N * T)")
        .Output(("output: " + t).c_str())
        .Output("value_index: int32")
        .Attr("T: type")
        .Attr("N: int >= 1")
        .Shape(MergeShape);
    if (t == "T") op.Gradient(MergeGradient);
    return op;
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
