#include "train/replicas/host_sums_graph.h"

#include <limits>
#include <set>
#include <utility>

#include "core/text/device_name.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

// Whether two nodes have been given the same task.
bool SameTask(const Node& a, const Node& b) {
  const auto x = DeviceName::Parse(a.device()), y = DeviceName::Parse(b.device());
  return x.ok() && y.ok() && x->job == y->job && x->task == y->task;
}

}  // namespace

HostSumsGraph::HostSumsGraph(Graph& g, Options options, const Operation& anchor, std::vector<Variable> variables,
                             Tensors values, Tensors gradients, const std::vector<int64_t>& if_dropped)
    : g_(g),
      options_(std::move(options)),
      anchor_(anchor),
      variables_(std::move(variables)),
      values_(std::move(values)),
      gradients_(std::move(gradients)) {
  auto place = g_.ColocateWith(anchor_);
  own_ = Sums(options_.prefix + "host_sums");
  read_ = Read(own_, {}, ConstantOf(g_, Tensor::Scalar<int64_t>(-1)), /*values=*/true, "host_values");
  if_dropped_ = ConstantOf(g_, Tensor::Vector(if_dropped));
}

Output HostSumsGraph::ConstantOf(Graph& g, Tensor value) {
  const DType dtype = value.dtype();
  return NodeBuilder(g, "Const").Attr("value", std::move(value)).Attr("dtype", dtype).Output();
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
      .Attr("spares", options_.spares)
      .Attr("async", options_.async)
      .Output();
}

Operation HostSumsGraph::Read(const Output& sums, const Output& of_epoch, const Output& after, bool values,
                              const char* name) {
  auto there = g_.ColocateWith(sums.op());
  return NodeBuilder(g_, "_ReadHostValues")
      .Name(name)
      .Input(sums)
      .Input(of_epoch.valid() ? of_epoch : ConstantOf(g_, Tensor::Scalar<int64_t>(0)))
      .Input(after)
      .Attr("T", values ? values_.types : std::vector<DType>())
      .Attr("shapes", values ? values_.shapes : std::vector<Shape>())
      .Finish();
}

Operation HostSumsGraph::Latest(const Output& sums) {
  return NodeBuilder(g_, "_HostStamp").Name("latest").Input(sums).ColocateWith(sums.op()).Finish();
}

void HostSumsGraph::UseValues() {
  GraphImpl& impl = ImplOf(g_);
  if (!g_.status().ok()) return;
  const GraphLock lock(g_);
  for (size_t i = 0; i < variables_.size(); ++i) {
    const Output handle = variables_[i].handle();
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
        impl.SetInput(node.get(), in, read_.output(static_cast<int>(i) + kFirst));
      }
    }
  }
  // Removes nothing, but sorts the nodes, because the new edges lead to older nodes.
  impl.RemoveNodes({});
}

Output HostSumsGraph::Add(std::vector<Output> gradients) {
  auto here = g_.ColocateWith(anchor_);
  return Here("_AddToHostSums", "add_to_host_sums")
      .Input(own_)
      .Input(read_.output(1))
      .Input(ConstantOf(g_, Tensor::Vector<int64_t>({options_.plan.replica})))
      .InputList(std::move(gradients))
      .Input(if_dropped_)
      .Attr("leaves", !options_.plan.sums_here)
      .Output();
}

Operation HostSumsGraph::Store(const Output& epoch, const Output& stamp, const std::vector<Output>& values) {
  const bool shared = options_.plan.sums_here && options_.plan.on_host > 1;
  return Here("_StoreHostValues", "store")
      .Input(own_)
      .Input(epoch)
      .Input(stamp)
      .InputList(values)
      .Attr("shared", shared)
      .Finish();
}

Operation HostSumsGraph::Take() {
  return Here("_TakeHostSums", "take")
      .Input(own_)
      .Attr("T", gradients_.types)
      .Attr("shapes", gradients_.shapes)
      .Attr("joins", gradients_.joins)
      .Finish();
}

Operation HostSumsGraph::Report(const Output& outcomes, const std::vector<Operation>& after) {
  NodeBuilder report = Here("_ReportHostSums", "report");
  report.Input(own_).Input(outcomes);
  for (const Operation& op : after) report.Control(op);
  return report.Finish();
}

HostRoute HostSumsGraph::RouteByHost() {
  auto scope = g_.NameScope("by_host");
  HostRoute route;
  const Operation latest = Latest(own_);
  const Operation taken = Take();
  if (!latest.valid() || !taken.valid()) return {};
  const Operation read = Read(sums_of_host_, options_.async ? latest.output(0) : Output(), latest.output(1),
                              /*values=*/true, "later_values");
  if (!read.valid()) return {};
  std::vector<Output> values, gradients;
  for (int i = kFirst; i < read.num_outputs(); ++i) values.push_back(read.output(i));
  for (int i = kFirst; i < taken.num_outputs(); ++i) gradients.push_back(taken.output(i));
  route.pull = Store(read.output(0), read.output(1), values);
  route.push = Report(NodeBuilder(g_, "_AddToHostSums")
                          .Name("add")
                          .Input(sums_of_host_)
                          .Input(taken.output(0))
                          .Input(taken.output(1))
                          .InputList(std::move(gradients))
                          .Input(if_dropped_)
                          .ColocateWith(sums_of_host_.op())
                          .Output());
  route.pushed = taken.output(0);
  return route;
}

HostRouteOps HostSumsGraph::Routes(const HostRoute& servers) {
  HostRouteOps ops;
  ops.servers = servers;
  ops.once = options_.async;
  const HostPlan& plan = options_.plan;
  if (!plan.sums_here) {
    {
      auto there = g_.Device([device = plan.sums_device](const Operation&) { return device; });
      sums_of_host_ = Sums(options_.prefix + "host_sums");
    }
    if (!sums_of_host_.valid()) return {};
    ops.host = RouteByHost();
  }
  {
    auto here = g_.ColocateWith(anchor_);
    ops.joined_after = Placeholder(g_, kInt64, {}, "joined_after");
  }
  const auto join = [&](const Output& sums, const Output& after, const char* name) {
    return NodeBuilder(g_, "_JoinHostSums")
        .Name(name)
        .Input(sums)
        .Input(after)
        .Attr("replica", plan.replica)
        .ColocateWith(sums.op())
        .Finish();
  };
  ops.join = join(plan.sums_here ? own_ : sums_of_host_, ops.joined_after, "join");
  if (!plan.sums_here) {
    // The own sums have no gradients but those of this worker, so it makes no difference that they wait for them.
    ops.stay = join(own_, ConstantOf(g_, Tensor::Scalar(std::numeric_limits<int64_t>::max())), "stay");
  }
  ops.reset = Here("_ResetHostSums", "reset").Input(own_).Finish();
  ops.end = Here("_CloseHostSums", "end").Input(own_).Attr("ended", true).Finish();
  if (plan.sums_here && plan.on_host > 1) {
    ops.leave = Here("_CloseHostSums", "leave").Input(own_).Attr("ended", false).Finish();
  }
  return ops;
}

}  // namespace tensorbraid
