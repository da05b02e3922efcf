#include "train/replicas/sync_sums_graph.h"

#include <utility>

#include "graph/model/node.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

std::vector<Variable> VariablesOf(const std::vector<GradAndVar>& grads) {
  std::vector<Variable> variables;
  for (const GradAndVar& grad : grads) variables.push_back(grad.var);
  return variables;
}

// Values and gradients are alike.
HostSumsGraph::Tensors TensorsOf(const std::vector<GradAndVar>& grads) {
  HostSumsGraph::Tensors tensors;
  for (const GradAndVar& grad : grads) tensors.Add(grad.var.dtype(), grad.var.shape());
  return tensors;
}

}  // namespace

bool SyncSumsGraph::CanSum(const GradAndVar& grad) {
  return grad.grad.valid() && !grad.grad.is_sparse() && IsFloating(grad.var.dtype()) &&
         grad.var.shape().num_elements() >= 0;
}

SyncSumsGraph::SyncSumsGraph(Graph& g, Options options, const Operation& anchor, const Operation& step_place,
                             std::vector<GradAndVar> grads)
    : HostSumsGraph(g, std::move(options), anchor, VariablesOf(grads), TensorsOf(grads), TensorsOf(grads),
                    /*if_dropped=*/std::vector<int64_t>(grads.size(), 0)),
      grads_(std::move(grads)) {
  auto place = g_.ColocateWith(step_place);
  clock_ = Sums(options_.prefix + "sync_clock");
}

Output SyncSumsGraph::AddGradients() {
  std::vector<Output> gradients;
  for (const GradAndVar& grad : grads_) gradients.push_back(grad.grad.dense());
  auto here = g_.ColocateWith(anchor_);
  return Equal(Add(std::move(gradients)), 1);
}

Output SyncSumsGraph::NextStamp(const std::vector<Operation>& after) {
  auto dependencies = g_.ControlDependencies(after);
  const Operation next = Read(own_, {}, stamp(), /*values=*/false, "next_stamp");
  return next.valid() ? next.output(1) : Output();
}

HostRoute SyncSumsGraph::RouteByServers(const std::vector<Output>& accumulators) {
  auto scope = g_.NameScope("by_servers");
  HostRoute route;
  const Operation latest = Latest(own_);
  const Operation taken = Take();
  if (!latest.valid() || !taken.valid()) return {};
  const Operation read = Read(clock_, {}, latest.output(1), /*values=*/false, "later_stamp");
  if (!read.valid()) return {};
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
                              .Input(taken.output(static_cast<int>(i) + kFirst))
                              .Output());
  }
  route.pull = Store(read.output(0), read.output(1), values);
  auto here = g_.ColocateWith(anchor_);
  route.push = Report(Cast(Stack(outcomes), kInt64));
  route.pushed = taken.output(0);
  return route;
}

HostRouteOps SyncSumsGraph::Routes(const std::vector<Output>& accumulators) {
  auto scope = g_.NameScope("host_routes");
  HostRouteOps ops = HostSumsGraph::Routes(RouteByServers(accumulators));
  if (!sums_of_host_.valid()) return ops;
  const auto epoch_of = [&](const Output& sums, const char* name) {
    auto there = g_.ColocateWith(sums.op());
    const Operation read = Read(sums, {}, ConstantOf(g_, Tensor::Scalar<int64_t>(-1)), /*values=*/false, name);
    return read.valid() ? read.output(0) : Output();
  };
  ops.epoch_of_host = epoch_of(sums_of_host_, "epoch_of_host");
  ops.epoch_of_servers = epoch_of(clock_, "epoch_of_servers");
  return ops;
}

Operation SyncSumsGraph::Publish(const Output& stamp, bool reopens) {
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

Operation SyncSumsGraph::EndAll() {
  return NodeBuilder(g_, "_CloseHostSums")
      .Name("end_all")
      .Input(clock_)
      .Attr("ended", true)
      .ColocateWith(clock_.op())
      .Finish();
}

}  // namespace tensorbraid
