// Queues: schemas and shape rules. Their handles are resources ("V2") or, in the older form, references to strings.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

bool IsQueue(const std::string& op) {
  return op.starts_with("FIFOQueue") || op.starts_with("PaddingFIFOQueue") || op.starts_with("RandomShuffleQueue") ||
         op.starts_with("PriorityQueue");
}

// The component shapes of the queue that input 0 refers to. Unknown if input 0 does not come from a queue op.
std::vector<Shape> ComponentShapes(ShapeContext& c) {
  const Node* queue = NodeOf(c.node().inputs()[0]);
  std::vector<Shape> shapes;
  if (IsQueue(queue->type())) shapes = queue->attr<std::vector<Shape>>("shapes");
  if (queue->type().starts_with("PriorityQueue")) shapes.insert(shapes.begin(), Shape());
  if (shapes.size() != static_cast<size_t>(c.num_outputs())) shapes.assign(c.num_outputs(), Shape::Unknown());
  return shapes;
}

Status QueueShape(ShapeContext& c) {
  if (c.node().type().ends_with("V2")) c.set_output(0, Shape());
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
  const bool known = n.is_valid() && n.num_elements() == 1;
  if (known && n.data<int32_t>()[0] < 0) {
    return InvalidArgument("n must not be negative, got ", n.data<int32_t>()[0]);
  }
  const bool exact = known && c.node().type().find("UpTo") == std::string::npos;
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (!shapes[i].has_rank()) continue;
    Shape s({exact ? n.data<int32_t>()[0] : Shape::kUnknownDim});
    for (int64_t d : shapes[i].dims()) s.AddDim(d);
    c.set_output(i, s);
  }
  return OkStatus();
}

// `version` is "" for queues with reference handles and "V2" for queues with resource handles.
void AddQueue(OpRegistry& r, const std::string& version) {
  const std::string type = version.empty() ? "Ref(string)" : "resource";
  const std::string handle = "handle: " + type;
  for (const char* kind : {"FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue"}) {
    const std::string_view k = kind;
    Op op(kind + version);
    op.Output(handle.c_str())
        .Attr(k == "PriorityQueue" ? "component_types: list(type) >= 0 = []" : "component_types: list(type) >= 1")
        .Attr(k == "PriorityQueue" ? "shapes: list(shape) >= 0" : "shapes: list(shape) >= 0 = []")
        .Attr("capacity: int = -1");
    if (k == "RandomShuffleQueue") {
      op.Attr("min_after_dequeue: int = 0").Attr("seed: int = 0").Attr("seed2: int = 0");
    }
    op.Attr("container: string = ''").Attr("shared_name: string = ''");
    r.Add(op.Stateful().Shape(QueueShape).NotDifferentiable());
  }
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

}  // namespace

void RegisterDataFlowQueueOps(OpRegistry& r) {
  AddQueue(r, "");
  AddQueue(r, "V2");
}

}  // namespace tensorbraid
