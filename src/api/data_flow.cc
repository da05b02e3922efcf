#include "core/strings.h"
#include "graph/node.h"
#include "tensorbraid/data_flow_ops.h"

namespace tensorbraid {
namespace {

// The last part of a node's name. The current name scope is prepended when the new node is named.
std::string BaseName(Output handle) {
  const std::string& name = handle.op().name();
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

}  // namespace

FIFOQueue::FIFOQueue(Graph& graph, std::vector<DType> component_types, FIFOQueueOptions options,
                     std::source_location loc)
    : types_(std::move(component_types)) {
  const std::string name = ImplOf(graph).UniqueName(options.name);
  handle_ = NodeBuilder(graph, "FIFOQueueV2", loc)
                .Name(name + "/")
                .Attr("component_types", types_)
                .Attr("shapes", options.shapes)
                .Attr("capacity", options.capacity)
                .Attr("shared_name", options.shared_name)
                .Output();
}

Operation FIFOQueue::Put(const char* op, const std::vector<Operand>& components, std::source_location loc) const {
  if (!valid()) return {};
  Graph& g = *handle_.graph();
  const ScopedLocation at(g, loc);
  std::vector<Output> tensors;
  for (size_t i = 0; i < components.size(); ++i) {
    tensors.push_back(components[i].ToOutput(g, i < types_.size() ? types_[i] : DType::kInvalid));
    if (tensors.back().valid() && (i >= types_.size() || tensors.back().dtype() != types_[i])) {
      g.AddError(InvalidArgument(op, " on queue '", name(), "' (", LocationText(ImplOf(g).UserLocation(loc)),
                                 "): component ", i, " is ", tensors.back().dtype(),
                                 i < types_.size()
                                     ? StrCat(", must be ", types_[i])
                                     : StrCat(", but the queue has only ", types_.size(), " components")));
      return {};
    }
  }
  return NodeBuilder(g, op)
      .Name(StrCat(BaseName(handle_), op == std::string("QueueEnqueueV2") ? "_enqueue" : "_EnqueueMany"))
      .Input(handle_)
      .InputList(std::move(tensors))
      .ColocateWith(handle_.op())
      .Finish();
}

std::vector<Output> FIFOQueue::Take(const char* op, const Operand* n, std::source_location loc) const {
  std::vector<Output> outputs(types_.size());
  if (!valid()) return outputs;
  Graph& g = *handle_.graph();
  NodeBuilder dequeue(g, op, loc);
  dequeue.Name(BaseName(handle_) + (n == nullptr ? "_Dequeue" : "_DequeueMany"))
      .Input(handle_)
      .Attr("component_types", types_);
  if (n != nullptr) dequeue.Input(n->ToOutput(g, kInt32));
  const Operation made = dequeue.ColocateWith(handle_.op()).Finish();
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = made.output(static_cast<int>(i));
  return outputs;
}

Operation FIFOQueue::Enqueue(const std::vector<Operand>& components, std::source_location loc) const {
  return Put("QueueEnqueueV2", components, loc);
}
Operation FIFOQueue::EnqueueMany(const std::vector<Operand>& components, std::source_location loc) const {
  return Put("QueueEnqueueManyV2", components, loc);
}
std::vector<Output> FIFOQueue::Dequeue(std::source_location loc) const { return Take("QueueDequeueV2", nullptr, loc); }
std::vector<Output> FIFOQueue::DequeueMany(const Operand& n) const {
  return Take("QueueDequeueManyV2", &n, n.location());
}
std::vector<Output> FIFOQueue::DequeueUpTo(const Operand& n) const {
  return Take("QueueDequeueUpToV2", &n, n.location());
}

Operation FIFOQueue::Close(bool cancel_pending_enqueues, std::source_location loc) const {
  if (!valid()) return {};
  return NodeBuilder(*handle_.graph(), "QueueCloseV2", loc)
      .Name(BaseName(handle_) + "_Close")
      .Input(handle_)
      .Attr("cancel_pending_enqueues", cancel_pending_enqueues)
      .ColocateWith(handle_.op())
      .Finish();
}

Output FIFOQueue::Size(std::source_location loc) const {
  if (!valid()) return {};
  return NodeBuilder(*handle_.graph(), "QueueSizeV2", loc)
      .Name(BaseName(handle_) + "_Size")
      .Input(handle_)
      .ColocateWith(handle_.op())
      .Output();
}

Output FIFOQueue::IsClosed(std::source_location loc) const {
  if (!valid()) return {};
  return NodeBuilder(*handle_.graph(), "QueueIsClosedV2", loc)
      .Name(BaseName(handle_) + "_Is_closed")
      .Input(handle_)
      .ColocateWith(handle_.op())
      .Output();
}

ConditionalAccumulator::ConditionalAccumulator(Graph& graph, DType dtype, ConditionalAccumulatorOptions options,
                                               std::source_location loc)
    : dtype_(dtype) {
  const std::string name = ImplOf(graph).UniqueName(options.name);
  handle_ = NodeBuilder(graph, "ResourceConditionalAccumulator", loc)
                .Name(name + "/")
                .Attr("dtype", dtype)
                .Attr("shape", options.shape)
                .Attr("reduction_type", options.reduction_type)
                .Attr("shared_name", options.shared_name)
                .Output();
}

Operation ConditionalAccumulator::ApplyGrad(const Operand& gradient, const Operand& local_step) const {
  if (!valid()) return {};
  Graph& g = *handle_.graph();
  return NodeBuilder(g, "ResourceAccumulatorApplyGradient", gradient.location())
      .Name(BaseName(handle_) + "_apply_grad")
      .Input(handle_)
      .Input(local_step.ToOutput(g, kInt64))
      .Input(gradient.ToOutput(g, dtype_))
      .ColocateWith(handle_.op())
      .Finish();
}

Output ConditionalAccumulator::TakeGrad(const Operand& num_required) const {
  if (!valid()) return {};
  Graph& g = *handle_.graph();
  return NodeBuilder(g, "ResourceAccumulatorTakeGradient", num_required.location())
      .Name(BaseName(handle_) + "_take_grad")
      .Input(handle_)
      .Input(num_required.ToOutput(g, kInt32))
      .Attr("dtype", dtype_)
      .ColocateWith(handle_.op())
      .Output();
}

Operation ConditionalAccumulator::SetGlobalStep(const Operand& new_global_step) const {
  if (!valid()) return {};
  Graph& g = *handle_.graph();
  return NodeBuilder(g, "ResourceAccumulatorSetGlobalStep", new_global_step.location())
      .Name(BaseName(handle_) + "_set_global_step")
      .Input(handle_)
      .Input(new_global_step.ToOutput(g, kInt64))
      .ColocateWith(handle_.op())
      .Finish();
}

Output ConditionalAccumulator::NumAccumulated(std::source_location loc) const {
  if (!valid()) return {};
  return NodeBuilder(*handle_.graph(), "ResourceAccumulatorNumAccumulated", loc)
      .Name(BaseName(handle_) + "_num_accumulated")
      .Input(handle_)
      .ColocateWith(handle_.op())
      .Output();
}

SparseConditionalAccumulator::SparseConditionalAccumulator(Graph& graph, DType dtype,
                                                           ConditionalAccumulatorOptions options,
                                                           std::source_location loc)
    : dtype_(dtype) {
  const std::string name = ImplOf(graph).UniqueName(options.name);
  handle_ = NodeBuilder(graph, "SparseConditionalAccumulator", loc)
                .Name(name + "/")
                .Attr("dtype", dtype)
                .Attr("shape", options.shape)
                .Attr("reduction_type", options.reduction_type)
                .Attr("shared_name", options.shared_name)
                .Output();
}

Operation SparseConditionalAccumulator::ApplyGrad(const IndexedSlices& gradient, const Operand& local_step) const {
  if (!valid() || !gradient.values.valid()) return {};
  Graph& g = *handle_.graph();
  auto place = g.ColocateWith(handle_.op());
  const auto as_int64 = [&](const Output& x) {
    return x.dtype() == kInt64 ? x : NodeBuilder(g, "Cast").Input(x).Attr("DstT", kInt64).Output();
  };
  return NodeBuilder(g, "SparseAccumulatorApplyGradient", local_step.location())
      .Name(BaseName(handle_) + "_apply_grad")
      .Input(handle_)
      .Input(local_step.ToOutput(g, kInt64))
      .Input(as_int64(gradient.indices))
      .Input(gradient.values)
      .Input(as_int64(gradient.dense_shape))
      .Attr("has_known_shape", true)
      .Finish();
}

IndexedSlices SparseConditionalAccumulator::TakeGrad(const Operand& num_required) const {
  if (!valid()) return {};
  Graph& g = *handle_.graph();
  const Operation taken = NodeBuilder(g, "SparseAccumulatorTakeGradient", num_required.location())
                              .Name(BaseName(handle_) + "_take_grad")
                              .Input(handle_)
                              .Input(num_required.ToOutput(g, kInt32))
                              .Attr("dtype", dtype_)
                              .ColocateWith(handle_.op())
                              .Finish();
  if (!taken.valid()) return {};
  return {.values = taken.output(1), .indices = taken.output(0), .dense_shape = taken.output(2)};
}

Operation SparseConditionalAccumulator::SetGlobalStep(const Operand& new_global_step) const {
  if (!valid()) return {};
  Graph& g = *handle_.graph();
  return NodeBuilder(g, "AccumulatorSetGlobalStep", new_global_step.location())
      .Name(BaseName(handle_) + "_set_global_step")
      .Input(handle_)
      .Input(new_global_step.ToOutput(g, kInt64))
      .ColocateWith(handle_.op())
      .Finish();
}

Output SparseConditionalAccumulator::NumAccumulated(std::source_location loc) const {
  if (!valid()) return {};
  return NodeBuilder(*handle_.graph(), "AccumulatorNumAccumulated", loc)
      .Name(BaseName(handle_) + "_num_accumulated")
      .Input(handle_)
      .ColocateWith(handle_.op())
      .Output();
}

}  // namespace tensorbraid
