#include "train/replicas/host_sums_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/text/device_name.h"
#include "graph/node.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

constexpr int kValues = 2;  // the first of the values, or sums, among the outputs of the nodes that have them

Output ConstantOf(Graph& g, Tensor value) {
  const DType dtype = value.dtype();
  return NodeBuilder(g, "Const").Attr("value", std::move(value)).Attr("dtype", dtype).Output();
}

// Whether two nodes have been given the same task.
bool SameTask(const Node& a, const Node& b) {
  const auto x = DeviceName::Parse(a.device()), y = DeviceName::Parse(b.device());
  return x.ok() && y.ok() && x->job == y->job && x->task == y->task;
}

}  // namespace

bool HostSumsGraph::CanSum(const GradAndVar& grad) {
  return grad.grad.valid() && !grad.grad.is_sparse() && IsFloating(grad.var.dtype()) &&
         grad.var.shape().num_elements() >= 0;
}

HostSumsGraph::HostSumsGraph(Graph& g, const HostPlan& plan, std::string prefix, int64_t spares,
                             const Operation& anchor, const Operation& step_place, std::vector<GradAndVar> grads)
    : g_(g), plan_(plan), prefix_(std::move(prefix)), spares_(spares), anchor_(anchor), grads_(std::move(grads)) {
  for (const GradAndVar& grad : grads_) {
    types_.push_back(grad.var.dtype());
    shapes_.push_back(grad.var.shape());
  }
  {
    auto place = g_.ColocateWith(step_place);
    clock_ = Sums(prefix_ + "sync_clock");
  }
  auto place = g_.ColocateWith(anchor_);
  own_ = Sums(prefix_ + "host_sums");
  read_ = Read(own_, ConstantOf(g_, Tensor::Scalar<int64_t>(-1)), /*values=*/true, "host_values");
  if (read_.valid()) stamp_ = read_.output(1);
}

NodeBuilder HostSumsGraph::Here(const char* op, const char* name) {
  NodeBuilder builder(g_, op);
  builder.Name(name).ColocateWith(anchor_);
  return builder;
}

Output HostSumsGraph::Sums(const std::string& shared_name) const {
  return NodeBuilder(g_, "_HostSums")
      .Name("host_sums")
      .Attr("shared_name", shared_name)
      .Attr("spares", spares_)
      .Output();
}

Operation HostSumsGraph::Read(const Output& sums, const Output& after, bool values, const char* name) {
  return NodeBuilder(g_, "_ReadHostValues")
      .Name(name)
      .Input(sums)
      .Input(after)
      .Attr("T", values ? types_ : std::vector<DType>())
      .Attr("shapes", values ? shapes_ : std::vector<Shape>())
      .ColocateWith(sums.op())
      .Finish();
}

void HostSumsGraph::UseValues() {
  GraphImpl& impl = ImplOf(g_);
  if (!g_.status().ok()) return;
  for (size_t i = 0; i < grads_.size(); ++i) {
    const Output handle = grads_[i].var.handle();
    const Node& variable = *NodeOf(handle);
    const Node& worker = *NodeOf(anchor_);
    // Ids rise along edges, so the reads come before the nodes that use them.
    std::set<const Node*> reads;
    for (const auto& node : impl.nodes()) {
      if (node->inputs().empty()) continue;
      const Output& first = node->inputs()[0];
      const bool is_read = node->type() == "ReadVariableOp" && first == handle;
      const bool passes = node->type() == "Identity" && first.valid() && reads.contains(NodeOf(first));
      if (!is_read && !passes && reads.empty()) continue;
      if (SameTask(*node, variable)) {
        const bool plain = node->control_inputs().empty() && node->flow_context() == nullptr;
        if ((is_read || passes) && plain) reads.insert(node.get());
        continue;
      }
      if (!SameTask(*node, worker)) continue;
      for (int in = 0; in < static_cast<int>(node->inputs().size()); ++in) {
        const Output& from = node->inputs()[in];
        if (!from.valid() || !reads.contains(NodeOf(from))) continue;
        impl.SetInput(node.get(), in, read_.output(static_cast<int>(i) + kValues));
      }
    }
  }
  // Removes nothing, but sorts the nodes, because the new edges lead to older nodes.
  impl.RemoveNodes({});
}

Output HostSumsGraph::AddGradients() {
  auto here = g_.ColocateWith(anchor_);
  std::vector<Output> gradients;
  for (const GradAndVar& grad : grads_) gradients.push_back(grad.grad.dense());
  const Output outcomes = Here("_AddToHostSums", "add_to_host_sums")
                              .Input(own_)
                              .Input(stamp_)
                              .Input(ConstantOf(g_, Tensor::Vector<int64_t>({plan_.replica})))
                              .InputList(std::move(gradients))
                              .Attr("leaves", !plan_.sums_here)
                              .Output();
  return Equal(outcomes, 1);
}

Output HostSumsGraph::NextStamp(const std::vector<Operation>& after) {
  auto dependencies = g_.ControlDependencies(after);
  const Operation next = Read(own_, stamp_, /*values=*/false, "next_stamp");
  return next.valid() ? next.output(1) : Output();
}

Operation HostSumsGraph::Store(const Operation& read, const std::vector<Output>& values) {
  if (!read.valid()) return {};
  const bool shared = plan_.sums_here && plan_.on_host > 1;
  return Here("_StoreHostValues", "store")
      .Input(own_)
      .Input(read.output(0))
      .Input(read.output(1))
      .InputList(values)
      .Attr("shared", shared)
      .Finish();
}

Operation HostSumsGraph::Take() {
  return Here("_TakeHostSums", "take").Input(own_).Attr("T", types_).Attr("shapes", shapes_).Finish();
}

Operation HostSumsGraph::Report(const Output& outcomes) {
  return Here("_ReportHostSums", "report").Input(own_).Input(outcomes).Finish();
}

HostRoute HostSumsGraph::RouteByServers(const std::vector<Output>& accumulators) {
  auto scope = g_.NameScope("by_servers");
  HostRoute route;
  const Operation read =
      Read(clock_, Here("_HostStamp", "stamp").Input(own_).Output(), /*values=*/false, "later_stamp");
  const Operation taken = Take();
  if (!read.valid() || !taken.valid()) return {};
  std::vector<Output> values;
  std::vector<Operand> outcomes;
  for (size_t i = 0; i < grads_.size(); ++i) {
    const Variable& var = grads_[i].var;
    {
      // The stamp is read first, so that the values are at least as new.
      auto after = g_.ControlDependencies({read});
      auto there = g_.ColocateWith(var.handle().op());
      values.push_back(NodeBuilder(g_, "ReadVariableOp").Input(var.handle()).Attr("dtype", var.dtype()).Output());
    }
    auto there = g_.ColocateWith(accumulators[i].op());
    outcomes.emplace_back(NodeBuilder(g_, "_ResourceAccumulatorApplySum")
                              .Name("apply_sum")
                              .Input(accumulators[i])
                              .Input(taken.output(0))
                              .Input(taken.output(1))
                              .Input(taken.output(static_cast<int>(i) + kValues))
                              .Output());
  }
  route.pull = Store(read, values);
  auto here = g_.ColocateWith(anchor_);
  route.push = Report(Stack(outcomes));
  route.pushed = taken.output(0);
  return route;
}

HostRoute HostSumsGraph::RouteByHost(const Output& sums_of_host) {
  auto scope = g_.NameScope("by_host");
  HostRoute route;
  const Operation read =
      Read(sums_of_host, Here("_HostStamp", "stamp").Input(own_).Output(), /*values=*/true, "later_values");
  const Operation taken = Take();
  if (!read.valid() || !taken.valid()) return {};
  std::vector<Output> values, gradients;
  for (int i = 0; i < static_cast<int>(grads_.size()); ++i) {
    values.push_back(read.output(i + kValues));
    gradients.push_back(taken.output(i + kValues));
  }
  route.pull = Store(read, values);
  route.push = Report(NodeBuilder(g_, "_AddToHostSums")
                          .Name("add")
                          .Input(sums_of_host)
                          .Input(taken.output(0))
                          .Input(taken.output(1))
                          .InputList(std::move(gradients))
                          .ColocateWith(sums_of_host.op())
                          .Output());
  route.pushed = taken.output(0);
  return route;
}

HostRouteOps HostSumsGraph::Routes(const std::vector<Output>& accumulators) {
  auto scope = g_.NameScope("host_routes");
  HostRouteOps ops;
  ops.servers = RouteByServers(accumulators);
  Output joined = own_;
  if (!plan_.sums_here) {
    Output sums_of_host;
    {
      auto there = g_.Device([device = plan_.sums_device](const Operation&) { return device; });
      sums_of_host = Sums(prefix_ + "host_sums");
    }
    if (!sums_of_host.valid()) return {};
    joined = sums_of_host;
    ops.host = RouteByHost(sums_of_host);
    const Operation of_host =
        Read(sums_of_host, ConstantOf(g_, Tensor::Scalar<int64_t>(-1)), /*values=*/false, "epoch_of_host");
    const Operation of_servers =
        Read(clock_, ConstantOf(g_, Tensor::Scalar<int64_t>(-1)), /*values=*/false, "epoch_of_servers");
    if (!of_host.valid() || !of_servers.valid()) return {};
    ops.epoch_of_host = of_host.output(0);
    ops.epoch_of_servers = of_servers.output(0);
  }
  {
    auto here = g_.ColocateWith(anchor_);
    ops.joined_after = Placeholder(g_, kInt64, {}, "joined_after");
  }
  ops.join = NodeBuilder(g_, "_JoinHostSums")
                 .Name("join")
                 .Input(joined)
                 .Input(ops.joined_after)
                 .Attr("replica", plan_.replica)
                 .ColocateWith(joined.op())
                 .Finish();
  ops.reset = Here("_ResetHostSums", "reset").Input(own_).Finish();
  ops.end = Here("_CloseHostSums", "end").Input(own_).Attr("ended", true).Finish();
  if (plan_.sums_here && plan_.on_host > 1) {
    ops.leave = Here("_CloseHostSums", "leave").Input(own_).Attr("ended", false).Finish();
  }
  return ops;
}

Operation HostSumsGraph::Publish(const Output& stamp, bool reopens) {
  auto there = g_.ColocateWith(clock_.op());
  return NodeBuilder(g_, "_StoreHostValues")
      .Name("publish")
      .Input(clock_)
      .Input(ConstantOf(g_, Tensor::Scalar<int64_t>(0)))
      .Input(stamp)
      .InputList({})
      .Attr("T", std::vector<DType>())
      .Attr("reopens", reopens)
      .Finish();
}

Operation HostSumsGraph::EndAll() {
  return NodeBuilder(g_, "_CloseHostSums")
      .Name("end_all")
      .Input(clock_)
      .Attr("ended", true)
      .ColocateWith(clock_.op())
      .Finish();
}

}  // namespace tensorbraid
