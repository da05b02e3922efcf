// Queues and conditional accumulators, by resource handle ("V2", "Resource…") and by reference.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

// The shapes that the queue behind input 0 was made with; unknown ones if it is not made in this graph.
std::vector<Shape> ComponentShapes(ShapeContext& c) {
  const Node* queue = c.node().inputs()[0].node();
  std::vector<Shape> shapes;
  if (queue->type() == "FIFOQueueV2" || queue->type() == "FIFOQueue")
    shapes = queue->attr<std::vector<Shape>>("shapes");
  shapes.resize(c.num_outputs(), Shape::Unknown());
  return shapes;
}

Status QueueShape(ShapeContext& c) {
  const auto& types = c.attr<std::vector<DType>>("component_types");
  const auto& shapes = c.attr<std::vector<Shape>>("shapes");
  if (!shapes.empty() && shapes.size() != types.size()) {
    return InvalidArgument("there are ", types.size(), " components, but ", shapes.size(), " shapes");
  }
  if (c.node().type() == "FIFOQueueV2") c.set_output(0, Shape());
  return OkStatus();
}

Status DequeueShape(ShapeContext& c) {
  const std::vector<Shape> shapes = ComponentShapes(c);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shapes[i]);
  return OkStatus();
}

Status DequeueManyShape(ShapeContext& c) {
  const std::vector<Shape> shapes = ComponentShapes(c);
  const Tensor n = c.input_value(1);
  const bool exact = n.is_valid() && n.num_elements() == 1 && c.node().type().find("UpTo") == std::string::npos;
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (!shapes[i].has_rank()) continue;
    Shape s({exact ? n.data<int32_t>()[0] : Shape::kUnknownDim});
    for (int64_t d : shapes[i].dims()) s.AddDim(d);
    c.set_output(i, s);
  }
  return OkStatus();
}

Status TakeShape(ShapeContext& c) {
  const Node* made = c.node().inputs()[0].node();
  if (made->type().ends_with("ConditionalAccumulator")) c.set_output(0, made->attr<Shape>("shape"));
  return OkStatus();
}

// `version`: "" for queues by reference, "V2" by resource.
void RegisterQueueOps(OpRegistry& r, const std::string& version) {
  const std::string type = version.empty() ? "Ref(string)" : "resource";
  const std::string handle = "handle: " + type;
  r.Add(Op("FIFOQueue" + version)
            .Output(handle.c_str())
            .Attr("component_types: list(type) >= 1")
            .Attr("shapes: list(shape) >= 0 = []")
            .Attr("capacity: int = -1")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Stateful()
            .Shape(QueueShape)
            .NotDifferentiable());
  for (const char* op : {"QueueEnqueue", "QueueEnqueueMany"}) {
    r.Add(Op(op + version)
              .Input(handle.c_str())
              .Input("components: Tcomponents")
              .Attr("Tcomponents: list(type) >= 1")
              .Attr("timeout_ms: int = -1")
              .Stateful()
              .Shape(NoOutputs)
              .NotDifferentiable());
  }
  r.Add(Op("QueueDequeue" + version)
            .Input(handle.c_str())
            .Output("components: component_types")
            .Attr("component_types: list(type) >= 1")
            .Attr("timeout_ms: int = -1")
            .Stateful()
            .Shape(DequeueShape)
            .NotDifferentiable());
  for (const char* op : {"QueueDequeueMany", "QueueDequeueUpTo"}) {
    r.Add(Op(op + version)
              .Input(handle.c_str())
              .Input("n: int32")
              .Output("components: component_types")
              .Attr("component_types: list(type) >= 1")
              .Attr("timeout_ms: int = -1")
              .Stateful()
              .Shape(DequeueManyShape)
              .NotDifferentiable());
  }
  r.Add(Op("QueueClose" + version)
            .Input(handle.c_str())
            .Attr("cancel_pending_enqueues: bool = false")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  r.Add(Op("QueueSize" + version)
            .Input(handle.c_str())
            .Output("size: int32")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("QueueIsClosed" + version)
            .Input(handle.c_str())
            .Output("is_closed: bool")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
}

// `prefix`: "" for accumulators by reference, "Resource" by resource.
void RegisterAccumulatorOps(OpRegistry& r, const std::string& prefix) {
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

}  // namespace

void RegisterDataFlowOps(OpRegistry& r) {
  RegisterQueueOps(r, "");
  RegisterQueueOps(r, "V2");
  RegisterAccumulatorOps(r, "");
  RegisterAccumulatorOps(r, "Resource");
}

}  // namespace tensorbraid
