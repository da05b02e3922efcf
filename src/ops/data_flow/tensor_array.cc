// TensorArrays and stacks: schemas, shape rules and gradients. The handles of stacks are resources ("V2") or, in the
// older form, references to strings. Clients use TensorArrays and stacks in the gradients of loops, which they add to
// their graphs as ops.
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Status ScalarInput(ShapeContext& c, int i) { return c.WithRank(i, 0).status(); }

// TensorFlow declares handles as vectors of two elements, as they were when they were strings, and states this shape in
// the graphs that it writes. A graph that states another shape is refused by TensorFlow.
Shape ShapeOfHandle() { return Shape({2}); }

// The handle and the flow of a TensorArray.
Status HandleAndFlowShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(ScalarShape(c));
  c.set_output(0, ShapeOfHandle());
  return OkStatus();
}

Status MakeShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(ScalarInput(c, 0));
  return HandleAndFlowShape(c);
}

Status WriteShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(ScalarInput(c, 1));
  c.set_output(0, Shape());
  return OkStatus();
}

Status ReadShape(ShapeContext& c) { return ScalarInput(c, 1); }

Status ArrayGatherShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRank(1, 1));
  const Shape& element = c.attr<Shape>("element_shape");
  if (!element.has_rank()) return OkStatus();
  Shape all({indices.dim(0)});
  for (const int64_t d : element.dims()) all.AddDim(d);
  c.set_output(0, std::move(all));
  return OkStatus();
}

Status ScatterShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  TF_RETURN_IF_ERROR(c.WithRankAtLeast(2, 1).status());
  c.set_output(0, Shape());
  return OkStatus();
}

Status ArrayConcatShape(ShapeContext& c) {
  c.set_output(1, Shape::UnknownOfRank(1));
  return OkStatus();
}

Status ArraySplitShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRankAtLeast(1, 1).status());
  TF_RETURN_IF_ERROR(c.WithRank(2, 1).status());
  c.set_output(0, Shape());
  return OkStatus();
}

Status PassShape(ShapeContext& c) {
  c.set_output(0, c.input(1));
  return OkStatus();
}

Status HandleShape(ShapeContext& c) {
  if (BaseType(c.node().output_type(0)) == DType::kResource) c.set_output(0, ShapeOfHandle());
  return OkStatus();
}

// Gradients. For each call of Gradients, a TensorArray has a second TensorArray, which holds the gradients of its
// elements. The gradient of an op that reads elements writes their gradients there. The gradient of an op that writes
// elements reads their gradients from there. The flows order these ops: the gradient of a flow is the flow of the
// second TensorArray.

// The handle and the flow of the TensorArray of gradients that belongs to the TensorArray `handle`. They are computed
// after `flow`.
struct GradientArray {
  Output handle;
  Output flow;
};
GradientArray GradientsOf(Output handle, Output flow) {
  const Operation op = NodeBuilder(*handle.graph(), "TensorArrayGradV3")
                           .Input(handle)
                           .Input(flow)
                           .Attr("source", ImplOf(*handle.graph()).gradient_scope())
                           .ColocateWith(handle.op())
                           .Finish();
  return op.valid() ? GradientArray{op.output(0), op.output(1)} : GradientArray{};
}

// For the gradient of `op`, which writes elements. Returns `grad_flow`, the gradient of its flow, but not before `op`
// is done.
Output FlowAfter(const Operation& op, Output grad_flow) {
  const auto after = op.graph()->ControlDependencies({op});
  return Node1("Identity", grad_flow);
}

Status ReadGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const GradientArray array = GradientsOf(in[0], in[2]);
  (*input_grads)[2] = NodeBuilder(*op.graph(), "TensorArrayWriteV3")
                          .Input(array.handle)
                          .Input(in[1])
                          .Input(grads[0])
                          .Input(array.flow)
                          .Output();
  return OkStatus();
}

Status WriteGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const Output flow = FlowAfter(op, grads[0]);
  const GradientArray array = GradientsOf(in[0], flow);
  (*input_grads)[2] = NodeBuilder(*op.graph(), "TensorArrayReadV3")
                          .Input(array.handle)
                          .Input(in[1])
                          .Input(array.flow)
                          .Attr("dtype", in[2].dtype())
                          .Output();
  (*input_grads)[3] = flow;
  return OkStatus();
}

Status GatherGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const GradientArray array = GradientsOf(in[0], in[2]);
  (*input_grads)[2] = NodeBuilder(*op.graph(), "TensorArrayScatterV3")
                          .Input(array.handle)
                          .Input(in[1])
                          .Input(grads[0])
                          .Input(array.flow)
                          .Output();
  return OkStatus();
}

Status ScatterGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const Output flow = FlowAfter(op, grads[0]);
  const GradientArray array = GradientsOf(in[0], flow);
  (*input_grads)[2] = NodeBuilder(*op.graph(), "TensorArrayGatherV3")
                          .Input(array.handle)
                          .Input(in[1])
                          .Input(array.flow)
                          .Attr("dtype", in[2].dtype())
                          .Output();
  (*input_grads)[3] = flow;
  return OkStatus();
}

Status ArrayConcatGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads[0].valid()) return OkStatus();
  const auto& in = NodeOf(op)->inputs();
  const GradientArray array = GradientsOf(in[0], in[1]);
  (*input_grads)[1] = NodeBuilder(*op.graph(), "TensorArraySplitV3")
                          .Input(array.handle)
                          .Input(grads[0])
                          .Input(op.output(1))
                          .Input(array.flow)
                          .Output();
  return OkStatus();
}

Status ArraySplitGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const Output flow = FlowAfter(op, grads[0]);
  const GradientArray array = GradientsOf(in[0], flow);
  (*input_grads)[1] = NodeBuilder(*op.graph(), "TensorArrayConcatV3")
                          .Input(array.handle)
                          .Input(array.flow)
                          .Attr("dtype", in[1].dtype())
                          .Output();
  (*input_grads)[3] = flow;
  return OkStatus();
}

Op StatefulOp(const char* name) { return Op(name).Stateful().NotDifferentiable(); }
Op StatefulOp(const char* name, GradientFn gradient) { return Op(name).Stateful().Gradient(gradient); }

void AddTensorArrayMakers(OpRegistry& r) {
  r.Add(StatefulOp("TensorArrayV3")
            .Input("size: int32")
            .Output("handle: resource")
            .Output("flow: float")
            .Attr("dtype: type")
            .Attr("element_shape: shape = unknown")
            .Attr("dynamic_size: bool = false")
            .Attr("clear_after_read: bool = true")
            .Attr("identical_element_shapes: bool = false")
            .Attr("tensor_array_name: string = ''")
            .Shape(MakeShape));
  r.Add(StatefulOp("TensorArrayGradV3")
            .Input("handle: resource")
            .Input("flow_in: float")
            .Output("grad_handle: resource")
            .Output("flow_out: float")
            .Attr("source: string")
            .Shape(HandleAndFlowShape));
  r.Add(StatefulOp("TensorArrayGradWithShape")
            .Input("handle: resource")
            .Input("flow_in: float")
            .Input("shape_to_prepend: int32")
            .Output("grad_handle: resource")
            .Output("flow_out: float")
            .Attr("source: string")
            .Shape(HandleAndFlowShape));
}

void AddTensorArrayUses(OpRegistry& r) {
  r.Add(StatefulOp("TensorArrayWriteV3", WriteGradient)
            .Input("handle: resource")
            .Input("index: int32")
            .Input("value: T")
            .Input("flow_in: float")
            .Output("flow_out: float")
            .Attr("T: type")
            .Shape(WriteShape));
  r.Add(StatefulOp("TensorArrayReadV3", ReadGradient)
            .Input("handle: resource")
            .Input("index: int32")
            .Input("flow_in: float")
            .Output("value: dtype")
            .Attr("dtype: type")
            .Shape(ReadShape));
  r.Add(StatefulOp("TensorArrayGatherV3", GatherGradient)
            .Input("handle: resource")
            .Input("indices: int32")
            .Input("flow_in: float")
            .Output("value: dtype")
            .Attr("dtype: type")
            .Attr("element_shape: shape = unknown")
            .Shape(ArrayGatherShape));
  r.Add(StatefulOp("TensorArrayScatterV3", ScatterGradient)
            .Input("handle: resource")
            .Input("indices: int32")
            .Input("value: T")
            .Input("flow_in: float")
            .Output("flow_out: float")
            .Attr("T: type")
            .Shape(ScatterShape));
  r.Add(StatefulOp("TensorArrayConcatV3", ArrayConcatGradient)
            .Input("handle: resource")
            .Input("flow_in: float")
            .Output("value: dtype")
            .Output("lengths: int64")
            .Attr("dtype: type")
            .Attr("element_shape_except0: shape = unknown")
            .Shape(ArrayConcatShape));
  r.Add(StatefulOp("TensorArraySplitV3", ArraySplitGradient)
            .Input("handle: resource")
            .Input("value: T")
            .Input("lengths: int64")
            .Input("flow_in: float")
            .Output("flow_out: float")
            .Attr("T: type")
            .Shape(ArraySplitShape));
  r.Add(StatefulOp("TensorArraySizeV3")
            .Input("handle: resource")
            .Input("flow_in: float")
            .Output("size: int32")
            .Shape(ScalarShape));
  r.Add(StatefulOp("TensorArrayCloseV3").Input("handle: resource").Shape(NoOutputs));
}

// Registers the ops of stacks whose handles are resources ("V2") or references to strings.
void AddStack(OpRegistry& r, const char* make, const char* push, const char* pop, const char* close) {
  const bool by_name = std::string_view(make) == "Stack";
  const char* handle = by_name ? "handle: Ref(string)" : "handle: resource";
  Op maker = StatefulOp(make);
  if (!by_name) maker.Input("max_size: int32");
  r.Add(maker.Output(handle).Attr("elem_type: type").Attr("stack_name: string = ''").Shape(HandleShape));
  r.Add(StatefulOp(push)
            .Input(handle)
            .Input("elem: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("swap_memory: bool = false")
            .Shape(PassShape));
  r.Add(StatefulOp(pop).Input(handle).Output("elem: elem_type").Attr("elem_type: type").Shape(UnknownShape));
  r.Add(StatefulOp(close).Input(handle).Shape(NoOutputs));
}

}  // namespace

void RegisterDataFlowTensorArrayOps(OpRegistry& r) {
  AddTensorArrayMakers(r);
  AddTensorArrayUses(r);
  AddStack(r, "StackV2", "StackPushV2", "StackPopV2", "StackCloseV2");
  AddStack(r, "Stack", "StackPush", "StackPop", "StackClose");
}

}  // namespace tensorbraid
