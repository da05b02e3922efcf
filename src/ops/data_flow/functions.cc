// The public classes FIFOQueue, ConditionalAccumulator and SparseConditionalAccumulator.
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/ops/data_flow.h"

namespace tensorbraid {
namespace {

// The last part of a node's name. The current name scope is prepended when the new node is named.
std::string BaseName(Output handle) {
  const std::string& name = handle.op().name();
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

// Starts a node for an operation on a queue or an accumulator. The node is named after the queue or accumulator, is on
// its device, and has its handle as the first input. All suffixes in this file are those of TensorFlow's node names.
NodeBuilder OperationOn(const Output& handle, const char* op, const std::string& suffix,
                        std::source_location loc = std::source_location::current()) {
  NodeBuilder builder(*handle.graph(loc), op, loc);
  builder.Name(BaseName(handle) + suffix).Input(handle).ColocateWith(handle.op());
  return builder;
}

Output MakeAccumulator(Graph& graph, const char* op, DType dtype, const ConditionalAccumulatorOptions& options,
                       std::source_location loc) {
  return NodeBuilder(graph, op, loc)
      .Name(ImplOf(graph).UniqueName(options.name) + "/")
      .Attr("dtype", dtype)
      .Attr("shape", options.shape)
      .Attr("reduction_type", options.reduction_type)
      .Attr("shared_name", options.shared_name)
      .Output();
}

// Operations that both kinds of accumulators have. Their ops have different names.
Operation TakeGradient(const Output& accumulator, const char* op, DType dtype, const Operand& num_required) {
  return OperationOn(accumulator, op, "_take_grad", num_required.location())
      .Input(num_required.ToOutput(*accumulator.graph(num_required.location()), kInt32))
      .Attr("dtype", dtype)
      .Finish();
}
Operation SetStep(const Output& accumulator, const char* op, const Operand& new_global_step) {
  return OperationOn(accumulator, op, "_set_global_step", new_global_step.location())
      .Input(new_global_step.ToOutput(*accumulator.graph(new_global_step.location()), kInt64))
      .Finish();
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
  Graph& g = *handle_.graph(loc);
  const ScopedLocation at(g, loc);
  std::vector<Output> tensors;
  for (size_t i = 0; i < components.size(); ++i) {
    tensors.push_back(components[i].ToOutput(g, i < types_.size() ? types_[i] : DType::kInvalid));
    if (tensors.back().valid() && (i >= types_.size() || tensors.back().dtype() != types_[i])) {
      g.AddError(InvalidArgument(op, " on queue '", name(), "' (", LocationText(ImplOf(g).UserLine(loc)),
                                 "): component ", i, " is ", tensors.back().dtype(),
                                 i < types_.size()
                                     ? StrCat(", must be ", types_[i])
                                     : StrCat(", but the queue has only ", types_.size(), " components")));
      return {};
    }
  }
  return OperationOn(handle_, op, op == std::string("QueueEnqueueV2") ? "_enqueue" : "_EnqueueMany")
      .InputList(std::move(tensors))
      .Finish();
}

std::vector<Output> FIFOQueue::Take(const char* op, const Operand* n, std::source_location loc) const {
  std::vector<Output> outputs(types_.size());
  if (!valid()) return outputs;
  Graph& g = *handle_.graph(loc);
  NodeBuilder dequeue = OperationOn(handle_, op, n == nullptr ? "_Dequeue" : "_DequeueMany", loc);
  dequeue.Attr("component_types", types_);
  if (n != nullptr) dequeue.Input(n->ToOutput(g, kInt32));
  const Operation made = dequeue.Finish();
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
  return OperationOn(handle_, "QueueCloseV2", "_Close", loc)
      .Attr("cancel_pending_enqueues", cancel_pending_enqueues)
      .Finish();
}

Output FIFOQueue::Size(std::source_location loc) const {
  if (!valid()) return {};
  return OperationOn(handle_, "QueueSizeV2", "_Size", loc).Output();
}

Output FIFOQueue::IsClosed(std::source_location loc) const {
  if (!valid()) return {};
  return OperationOn(handle_, "QueueIsClosedV2", "_Is_closed", loc).Output();
}

ConditionalAccumulator::ConditionalAccumulator(Graph& graph, DType dtype, ConditionalAccumulatorOptions options,
                                               std::source_location loc)
    : handle_(MakeAccumulator(graph, "ResourceConditionalAccumulator", dtype, options, loc)), dtype_(dtype) {}

Operation ConditionalAccumulator::ApplyGrad(const Operand& gradient, const Operand& local_step) const {
  if (!valid()) return {};
  Graph& g = *handle_.graph(gradient.location());
  return OperationOn(handle_, "ResourceAccumulatorApplyGradient", "_apply_grad", gradient.location())
      .Input(local_step.ToOutput(g, kInt64))
      .Input(gradient.ToOutput(g, dtype_))
      .Finish();
}

Output ConditionalAccumulator::TakeGrad(const Operand& num_required) const {
  if (!valid()) return {};
  return TakeGradient(handle_, "ResourceAccumulatorTakeGradient", dtype_, num_required).output(0);
}

Operation ConditionalAccumulator::SetGlobalStep(const Operand& new_global_step) const {
  if (!valid()) return {};
  return SetStep(handle_, "ResourceAccumulatorSetGlobalStep", new_global_step);
}

Output ConditionalAccumulator::NumAccumulated(std::source_location loc) const {
  if (!valid()) return {};
  return OperationOn(handle_, "ResourceAccumulatorNumAccumulated", "_num_accumulated", loc).Output();
}

SparseConditionalAccumulator::SparseConditionalAccumulator(Graph& graph, DType dtype,
                                                           ConditionalAccumulatorOptions options,
                                                           std::source_location loc)
    : handle_(MakeAccumulator(graph, "SparseConditionalAccumulator", dtype, options, loc)), dtype_(dtype) {}

Operation SparseConditionalAccumulator::ApplyGrad(const IndexedSlices& gradient, const Operand& local_step) const {
  if (!valid() || !gradient.values.valid()) return {};
  Graph& g = *handle_.graph(local_step.location());
  auto place = g.ColocateWith(handle_.op());
  const auto as_int64 = [&](const Output& x) {
    return x.dtype() == kInt64 ? x : NodeBuilder(g, "Cast").Input(x).Attr("DstT", kInt64).Output();
  };
  return OperationOn(handle_, "SparseAccumulatorApplyGradient", "_apply_grad", local_step.location())
      .Input(local_step.ToOutput(g, kInt64))
      .Input(as_int64(gradient.indices))
      .Input(gradient.values)
      .Input(as_int64(gradient.dense_shape))
      .Attr("has_known_shape", true)
      .Finish();
}

IndexedSlices SparseConditionalAccumulator::TakeGrad(const Operand& num_required) const {
  if (!valid()) return {};
  const Operation taken = TakeGradient(handle_, "SparseAccumulatorTakeGradient", dtype_, num_required);
  if (!taken.valid()) return {};
  return {.values = taken.output(1), .indices = taken.output(0), .dense_shape = taken.output(2)};
}

Operation SparseConditionalAccumulator::SetGlobalStep(const Operand& new_global_step) const {
  if (!valid()) return {};
  return SetStep(handle_, "AccumulatorSetGlobalStep", new_global_step);
}

Output SparseConditionalAccumulator::NumAccumulated(std::source_location loc) const {
  if (!valid()) return {};
  return OperationOn(handle_, "AccumulatorNumAccumulated", "_num_accumulated", loc).Output();
}

}  // namespace tensorbraid
