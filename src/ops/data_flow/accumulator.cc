// Conditional accumulators: schemas and shape rules. Their handles are resources ("Resource...") or, in the older form,
// references to strings.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// The gradient has the shape in attribute 'shape' of the op that makes the accumulator.
Status TakeShape(ShapeContext& c) {
  const Node* made = NodeOf(c.node().inputs()[0]);
  if (made->type().ends_with("ConditionalAccumulator")) c.set_output(0, made->attr<Shape>("shape"));
  return OkStatus();
}

// `prefix` is "" for the ops with reference handles and "Resource" for those with resource handles.
void AddAccumulator(OpRegistry& r, const std::string& prefix) {
  const std::string handle = prefix.empty() ? "handle: Ref(string)" : "handle: resource";
  r.Add(Op(prefix + "ConditionalAccumulator")
            .Output(handle.c_str())
            .Attr("dtype: numbertype")
            .Attr("shape: shape")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Attr("reduction_type: { 'MEAN', 'SUM' } = 'MEAN'")
            .Stateful()
            .Shape(prefix.empty() ? UnknownShape : ScalarShape)
            .NotDifferentiable());
  r.Add(Op(prefix + "AccumulatorApplyGradient")
            .Input(handle.c_str())
            .Input("local_step: int64")
            .Input("gradient: dtype")
            .Attr("dtype: numbertype")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  r.Add(Op(prefix + "AccumulatorTakeGradient")
            .Input(handle.c_str())
            .Input("num_required: int32")
            .Output("average: dtype")
            .Attr("dtype: numbertype")
            .Stateful()
            .Shape(TakeShape)
            .NotDifferentiable());
  r.Add(Op(prefix + "AccumulatorNumAccumulated")
            .Input(handle.c_str())
            .Output("num_accumulated: int32")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op(prefix + "AccumulatorSetGlobalStep")
            .Input(handle.c_str())
            .Input("new_global_step: int64")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
}

// These ops are like the ops without "_" in their names, but have an output that tells whether the gradient was added.
// If not, it was dropped because it came too late.
void AddApplyWithOutcome(OpRegistry& r) {
  r.Add(Op("_ResourceAccumulatorApplyGradient")
            .Input("handle: resource")
            .Input("local_step: int64")
            .Input("gradient: dtype")
            .Output("applied: bool")
            .Attr("dtype: numbertype")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  // The outcome is a GradientOutcome (runtime/resources/accumulator_resource.h).
  r.Add(Op("_ResourceAccumulatorApplySum")
            .Input("handle: resource")
            .Input("local_step: int64")
            .Input("replicas: int64")
            .Input("gradient: dtype")
            .Output("outcome: int32")
            .Attr("dtype: numbertype")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("_SparseAccumulatorApplyGradient")
            .Input("handle: Ref(string)")
            .Input("local_step: int64")
            .Input("gradient_indices: int64")
            .Input("gradient_values: dtype")
            .Input("gradient_shape: int64")
            .Output("applied: bool")
            .Attr("dtype: numbertype")
            .Attr("has_known_shape: bool")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
}

// For synchronous training. _ChiefNumber numbers the sessions of chiefs: with `next` it returns a new number, else the
// number of the latest session. A new chief resets the accumulators with _AccumulatorRestart: they drop the gradients
// that they have collected for the next update, and go on at `step`.
void AddRestart(OpRegistry& r) {
  for (const std::string prefix : {"", "Resource"}) {
    r.Add(Op("_" + prefix + "AccumulatorRestart")
              .Input(prefix.empty() ? "handle: Ref(string)" : "handle: resource")
              .Input("step: int64")
              .Stateful()
              .Shape(NoOutputs)
              .NotDifferentiable());
  }
  r.Add(Op("_ChiefNumber")
            .Output("number: int64")
            .Attr("next: bool")
            .Attr("shared_name: string")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
}

void AddSparseAccumulator(OpRegistry& r) {
  r.Add(Op("SparseConditionalAccumulator")
            .Output("handle: Ref(string)")
            .Attr("dtype: numbertype")
            .Attr("shape: shape")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Attr("reduction_type: { 'MEAN', 'SUM' } = 'MEAN'")
            .Stateful()
            .Shape(UnknownShape)
            .NotDifferentiable());
  r.Add(Op("SparseAccumulatorApplyGradient")
            .Input("handle: Ref(string)")
            .Input("local_step: int64")
            .Input("gradient_indices: int64")
            .Input("gradient_values: dtype")
            .Input("gradient_shape: int64")
            .Attr("dtype: numbertype")
            .Attr("has_known_shape: bool")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  r.Add(Op("SparseAccumulatorTakeGradient")
            .Input("handle: Ref(string)")
            .Input("num_required: int32")
            .Output("indices: int64")
            .Output("values: dtype")
            .Output("shape: int64")
            .Attr("dtype: numbertype")
            .Stateful()
            .Shape(UnknownShape)
            .NotDifferentiable());
}

}  // namespace

void RegisterDataFlowAccumulatorOps(OpRegistry& r) {
  AddAccumulator(r, "");
  AddAccumulator(r, "Resource");
  AddApplyWithOutcome(r);
  AddRestart(r);
  AddSparseAccumulator(r);
}

}  // namespace tensorbraid
