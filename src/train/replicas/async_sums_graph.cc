#include "train/replicas/async_sums_graph.h"

#include <utility>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "train/optimizers/increasing_rows.h"
#include "train/optimizers/key_counts.h"
#include "train/replicas/rows_to_sum.h"

namespace tensorbraid {
namespace {

std::vector<Variable> DenseVariables(const std::vector<GradAndVar>& grads) {
  std::vector<Variable> variables;
  for (const GradAndVar& grad : grads) {
    if (!grad.grad.is_sparse()) variables.push_back(grad.var);
  }
  return variables;
}

HostSumsGraph::Tensors ValuesOf(const std::vector<GradAndVar>& grads) {
  HostSumsGraph::Tensors tensors;
  const std::vector<Variable> variables = DenseVariables(grads);
  for (const Variable& variable : variables) tensors.Add(variable.dtype(), variable.shape());
  tensors.Add(kInt64, Shape({std::ssize(variables)}));
  tensors.Add(kInt64, Shape());
  return tensors;
}

HostSumsGraph::Tensors GradientsOf(const std::vector<GradAndVar>& grads) {
  HostSumsGraph::Tensors tensors;
  for (const GradAndVar& grad : grads) {
    if (!grad.grad.is_sparse()) {
      tensors.Add(grad.var.dtype(), grad.var.shape());
      continue;
    }
    tensors.Add(kInt64, Shape({-1}), "concat");
    // Rows of a growing table with a filter have their counts, too.
    Shape rows = CountsKeys(grad.var) ? ShapeOfSum(grad.var) : grad.grad.slices().values.shape();
    if (rows.has_rank()) rows.set_dim(0, -1);
    tensors.Add(grad.grad.dtype(), rows, "concat");
  }
  tensors.Add(kInt64, Shape({std::ssize(grads)}), "min");
  return tensors;
}

}  // namespace

Status AsyncSumsGraph::CheckGradients(const std::vector<GradAndVar>& grads) {
  for (const GradAndVar& grad : grads) {
    if (!grad.grad.valid() || IsFloating(grad.grad.dtype())) continue;
    return InvalidArgument("sum_per_host cannot sum gradients of ", grad.grad.dtype(), ", as of variable '",
                           grad.var.name(),
                           "': train without sum_per_host, or with variables of a floating-point type");
  }
  return OkStatus();
}

// HostSums that drop gradients say so with -1, the outcome of a dropped gradient of age 0. The last -1 stands for any
// stamp.
AsyncSumsGraph::AsyncSumsGraph(Graph& g, Options options, const Operation& anchor, const Operation& step_place,
                               std::vector<GradAndVar> grads, std::map<const Node*, Versioned> clocks)
    : HostSumsGraph(g, std::move(options), anchor, DenseVariables(grads), ValuesOf(grads), GradientsOf(grads),
                    /*if_dropped=*/std::vector<int64_t>(grads.size() + 1, -1)),
      grads_(std::move(grads)),
      clocks_(std::move(clocks)) {
  auto place = g_.ColocateWith(step_place);
  servers_ = Sums(options_.prefix + "async_clock");
}

Output AsyncSumsGraph::AddGradients() {
  if (!g_.status().ok()) return {};
  auto here = g_.ColocateWith(anchor_);
  const auto dense = static_cast<int>(variables_.size());
  const Output read_versions = read_.output(kFirst + dense);
  std::vector<Output> of_dense;
  if (dense > 0) of_dense = Unstack(read_versions, 0, dense);
  std::vector<Output> gradients;
  std::vector<Operand> versions;
  size_t next = 0;
  for (const GradAndVar& grad : grads_) {
    if (grad.grad.is_sparse()) {
      const bool counts = CountsKeys(grad.var);
      const IndexedSlices rows = counts ? RowsToSum(grad.grad.slices(), grad.var) : grad.grad.slices();
      if (!rows.values.valid()) return {};
      gradients.push_back(Cast(rows.indices, kInt64));
      gradients.push_back(rows.values);
      versions.emplace_back(clocks_.at(NodeOf(grad.var.handle())).version);
    } else {
      gradients.push_back(grad.grad.dense());
      versions.emplace_back(of_dense.at(next++));
    }
  }
  gradients.push_back(Stack(versions));
  if (!g_.status().ok()) return {};
  const Output outcomes = Add(std::move(gradients));
  const auto count = std::ssize(grads_);
  const Output stamp = Reshape(Slice(outcomes, {count}, {1}), std::vector<int64_t>());
  const Operation later = Read(own_, read_.output(0), stamp - 1, /*values=*/false, "next_values");
  if (!later.valid()) return {};
  auto after = g_.ControlDependencies({later});
  return Slice(outcomes, {0}, {count}, "outcomes");
}

std::vector<GradAndVar> AsyncSumsGraph::TakeSums(std::map<const Node*, Versioned>* versions) {
  if (!g_.status().ok()) return {};
  auto scope = g_.NameScope("host_routes/by_servers");
  auto here = g_.ColocateWith(anchor_);
  taken_ = Take();
  if (!taken_.valid()) return {};
  const std::vector<Output> of_grads =
      Unstack(taken_.output(taken_.num_outputs() - 1), 0, static_cast<int>(grads_.size()));
  if (!g_.status().ok()) return {};
  std::vector<GradAndVar> sums;
  int next = kFirst;
  for (size_t i = 0; i < grads_.size(); ++i) {
    const Variable& var = grads_[i].var;
    versions->at(NodeOf(var.handle())).version = of_grads[i];
    if (!grads_[i].grad.is_sparse()) {
      sums.push_back({taken_.output(next++), var});
      continue;
    }
    IndexedSlices slices;
    slices.indices = taken_.output(next++);
    slices.values = taken_.output(next++);
    const Shape shape = CountsKeys(var) ? ShapeOfSum(var) : var.shape();
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    slices.dense_shape = ConstantOf(g_, Tensor::Vector(dims));
    if (CountsKeys(var)) {  // the sums of the rows of all workers, not their means
      const Output one = Operand(1).ToOutput(g_, var.dtype());
      slices = MeansOfCountedRows(WithIncreasingRows(g_, slices), var, one);
      if (!slices.values.valid()) return {};
    }
    sums.push_back({slices, var});
  }
  return sums;
}

Output AsyncSumsGraph::NumSummed(DType dtype) {
  auto here = g_.ColocateWith(anchor_);
  return Cast(Size(taken_.output(1)), dtype);
}

std::vector<Output> AsyncSumsGraph::ReadValues(const std::function<Operation(size_t gradient)>& after) {
  std::vector<Output> values;
  std::vector<Operand> versions;
  for (size_t i = 0; i < grads_.size(); ++i) {
    if (grads_[i].grad.is_sparse()) continue;
    const Variable& var = grads_[i].var;
    auto there = g_.ColocateWith(var.handle().op());
    NodeBuilder version(g_, "_ReadUpdateClock");
    version.Name("version").Input(clocks_.at(NodeOf(var.handle())).clock);
    if (const Operation first = after(i); first.valid()) version.Control(first);
    const Output read = version.Output();
    if (!read.valid()) return {};
    versions.emplace_back(read);
    values.push_back(
        NodeBuilder(g_, "ReadVariableOp").Input(var.handle()).Attr("dtype", var.dtype()).Control(read.op()).Output());
  }
  {
    auto here = g_.ColocateWith(anchor_);
    values.push_back(versions.empty() ? ConstantOf(g_, Tensor::Vector(std::vector<int64_t>())) : Stack(versions));
  }
  const Operation epoch = Latest(servers_);
  if (!epoch.valid()) return {};
  values.push_back(epoch.output(0));
  return values;
}

HostRouteOps AsyncSumsGraph::Routes(const std::vector<Output>& outcomes, const Operation& applied) {
  auto scope = g_.NameScope("host_routes");
  HostRoute servers;
  {
    auto by_servers = g_.NameScope("by_servers");
    auto here = g_.ColocateWith(anchor_);
    const Output own_epoch = ConstantOf(g_, Tensor::Scalar<int64_t>(0));
    // A pull that is overtaken by a push must not replace its values, so the stamp is chosen before they are read.
    const Operation latest = Latest(own_);
    if (!latest.valid()) return {};
    servers.pull = Store(own_epoch, latest.output(1) + 1, ReadValues([&](size_t) { return latest; }));
    const Operation stored = Store(own_epoch, ConstantOf(g_, Tensor::Scalar<int64_t>(-1)),
                                   ReadValues([&](size_t i) { return outcomes[i].op(); }));
    if (!stored.valid()) return {};
    const std::vector<Operand> all(outcomes.begin(), outcomes.end());
    // The workers learn of the outcomes when they can read the values, and when the global step has grown.
    servers.push = Report(Concat({Stack(all), ExpandDims(stored.output(0), 0)}, 0), {applied});
    servers.pushed = taken_.output(0);
  }
  HostRouteOps ops = HostSumsGraph::Routes(servers);
  if (!sums_of_host_.valid() || !g_.status().ok()) return ops;
  auto there = g_.ColocateWith(sums_of_host_.op());
  const Operation of_host =
      Read(sums_of_host_, {}, ConstantOf(g_, Tensor::Scalar<int64_t>(-1)), /*values=*/true, "epoch_of_host");
  const Operation of_servers = Latest(servers_);
  if (!of_host.valid() || !of_servers.valid()) return {};
  ops.epoch_of_host = of_host.output(of_host.num_outputs() - 1);
  ops.epoch_of_servers = of_servers.output(0);
  return ops;
}

}  // namespace tensorbraid
