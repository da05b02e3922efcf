// Asynchronous training under a StalenessPolicy (see AsyncReplicasOptimizer).
//
// Each variable has an UpdateClock (runtime/replicas/update_clock.h) beside it. A step reads the clock's version before
// it reads the variable. The nodes of the variable's update are on one side of a Switch, whose predicate is the
// decision of the clock, so they do not run if the gradient is dropped. A Merge continues the step in both cases.
// stale_gradients.h adds these nodes. If several batches make a push, all of this is on one side of a second Switch, on
// the worker, and accumulators on the worker sum the gradients.
//
// With sum_per_host, a step adds its gradients to the sums of its host (async_sums_graph.h), and the nodes above belong
// to another run, which takes the sums and applies them (host_routes.h).
//
// Delay compensation compares the variable with the value that the step has read. The tensor of this read stays on the
// parameter server until the step ends, so the value is not sent again, and no copy is kept for workers that may never
// come back. While the tensor is in use, updates of other workers write to fresh memory.
#include "tensorbraid/optimizers/async_replicas.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <set>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/ops/math.h"
#include "train/optimizers/key_counts.h"
#include "train/replicas/async_hook.h"
#include "train/replicas/async_sums_graph.h"
#include "train/replicas/rows_to_sum.h"
#include "train/replicas/stale_gradients.h"
#include "train/sessions/train_op.h"
#include "variables/update_ops.h"

namespace tensorbraid {
namespace {

// Whether the node uses the value of the variable with this handle.
bool ReadsHandle(const Node& node, const Output& handle) {
  if (node.inputs().empty() || node.inputs()[0] != handle) return false;
  if (NodeOf(handle)->type() == "KvVarHandleOp") return node.type().starts_with("KvResourceGather");
  return !node.type().starts_with("Assign") && node.type() != "VarIsInitializedOp";
}

// The value of the variable that the step has read: the read on which the gradient depends, or a new read if the
// gradient depends on none.
Output ReadBehind(const Gradient& grad, const Variable& variable) {
  std::set<const Node*> seen;
  std::deque<const Node*> next = {NodeOf(grad.op().output(0))};
  while (!next.empty()) {
    const Node* const node = next.front();
    next.pop_front();
    if (!seen.insert(node).second) continue;
    if (node->type() == "ReadVariableOp" && node->inputs()[0] == variable.handle()) {
      return OutputOf(const_cast<Node*>(node), 0);
    }
    for (const Output& in : node->inputs()) {
      if (in.valid()) next.push_back(NodeOf(in));
    }
  }
  auto no_dependencies = variable.graph()->ControlDependencies(std::vector<Operation>());
  return variable.Read();
}

}  // namespace

AsyncReplicasOptimizer::AsyncReplicasOptimizer(std::shared_ptr<Optimizer> optimizer, AsyncReplicasOptions options)
    : Optimizer(options.name), state_(std::make_shared<State>()) {
  state_->optimizer = std::move(optimizer);
  state_->options = std::move(options);
}
AsyncReplicasOptimizer::~AsyncReplicasOptimizer() = default;

StatusOr<std::vector<GradAndVar>> AsyncReplicasOptimizer::ComputeGradients(const Output& loss,
                                                                           const std::vector<Variable>& variables,
                                                                           std::source_location loc) {
  return state_->optimizer->ComputeGradients(loss, variables, loc);
}

namespace {

// Sums the gradients of `k` batches on the worker. Replaces the gradients by their means, and the versions by those of
// the first batch. Returns whether this step pushes the gradients; if not, the gradients are dead (as on the side of a
// Switch that is not taken).
Output Accumulate(Graph& g, const Output& k, std::vector<GradAndVar>* grads,
                  std::map<const Node*, Versioned>* versions) {
  // The accumulators and variables are colocated with the anchor, which keeps them off the parameter servers.
  const Operation anchor = NodeBuilder(g, "NoOp").Name("local_anchor").Finish();
  auto place = g.ColocateWith(anchor);
  // An accumulator drops gradients that are older than its own step, which is the number of pushes.
  const Output never_old = Operand(std::numeric_limits<int64_t>::max()).ToOutput(g, kInt64);
  struct Sum {
    GradAndVar* of;
    ConditionalAccumulator dense;
    SparseConditionalAccumulator rows;
  };
  std::vector<Sum> sums;
  for (GradAndVar& grad : *grads) {
    if (!grad.grad.valid()) continue;
    const ConditionalAccumulatorOptions options = {
        .shape = ShapeOfSum(grad.var), .reduction_type = "SUM", .name = "batches"};
    Sum sum{.of = &grad, .dense = {}, .rows = {}};
    if (grad.grad.is_sparse()) {
      sum.rows = SparseConditionalAccumulator(g, grad.grad.dtype(), options);
    } else {
      sum.dense = ConditionalAccumulator(g, grad.grad.dtype(), options);
    }
    sums.push_back(sum);
  }
  if (sums.empty()) return {};
  const auto count = [&] {
    return sums[0].dense.valid() ? sums[0].dense.NumAccumulated() : sums[0].rows.NumAccumulated();
  };
  const Output before = count();
  if (!before.valid()) return {};
  std::vector<Operation> added;
  for (const Sum& sum : sums) {
    auto after = g.ControlDependencies({before.op()});
    added.push_back(sum.rows.valid() ? sum.rows.ApplyGrad(RowsToSum(sum.of->grad.slices(), sum.of->var), never_old)
                                     : sum.dense.ApplyGrad(sum.of->grad.dense(), never_old));
  }
  if (!g.status().ok()) return {};
  Output now;
  {
    auto after = g.ControlDependencies(added);
    now = count();
  }
  const Output push = GreaterEqual(now, k);
  const Output is_first = Equal(before, 0);
  const Output batches = OnSide(push, /*side=*/true, now);
  if (!batches.valid()) return {};
  // All sums are taken before one is sent: tensors of growing tables that wait for the same travel together.
  std::vector<Gradient> taken;
  std::vector<Operation> takes;
  for (const Sum& sum : sums) {
    taken.push_back(sum.rows.valid() ? Gradient(sum.rows.TakeGrad(batches)) : Gradient(sum.dense.TakeGrad(batches)));
    if (!taken.back().valid()) return {};
    takes.push_back(taken.back().op());
  }
  const Operation all_taken = Group(g, takes, "taken");
  const auto after_all = [&](const Output& x) {
    return NodeBuilder(g, "Identity").Name("sum").Input(x).Control(all_taken).Output();
  };
  for (size_t i = 0; i < sums.size(); ++i) {
    const Sum& sum = sums[i];
    Gradient all = WithValues(taken[i], after_all);
    if (!all.valid()) return {};
    if (all.is_sparse()) {
      IndexedSlices rows = all.slices();
      rows.indices = after_all(rows.indices);
      all = rows;
    }
    const Output divisor = Cast(batches, sum.of->grad.dtype());
    const auto mean = [&](const Output& x) { return x / divisor; };
    sum.of->grad = CountsKeys(sum.of->var) ? Gradient(MeansOfCountedRows(all.slices(), sum.of->var, divisor))
                                           : WithValues(all, mean);
    Output& version = versions->at(NodeOf(sum.of->var.handle())).version;
    Variable first;
    {
      auto top = g.NameScope("");
      first =
          Variable(g, {}, Zeros(),
                   {.name = sum.of->var.name() + "/first_version", .dtype = kInt64, .trainable = false, .local = true});
    }
    version = Select(is_first, version, first.value());
    version = WithDependencies({first.Assign(version)}, version);
  }
  return push;
}

// The number of batches per push at this global step, an int32 scalar.
Output BatchesAt(Graph& g, const Variable& global_step, const std::map<int64_t, int>& schedule) {
  Output k;
  int before = 0;
  for (const auto& [step, batches] : schedule) {
    if (!k.valid()) {
      k = Operand(batches).ToOutput(g, kInt32);
    } else {
      k = k + Cast(GreaterEqual(global_step.value(), step), kInt32) * (batches - before);
    }
    before = batches;
  }
  return k;
}

// The scalars as a vector. Those of a device come as one tensor.
Output InOneVector(Graph& g, const std::vector<Output>& scalars) {
  struct OfDevice {
    std::vector<int32_t> positions;
    std::vector<Operand> scalars;
  };
  std::map<std::string, OfDevice> devices;
  for (size_t i = 0; i < scalars.size(); ++i) {
    OfDevice& device = devices[scalars[i].op().device()];
    device.positions.push_back(static_cast<int32_t>(i));
    device.scalars.emplace_back(scalars[i]);
  }
  std::vector<Output> positions, vectors;
  for (const auto& [name, device] : devices) {
    positions.push_back(Operand(Tensor::Vector(device.positions)).ToOutput(g));
    auto there = g.ColocateWith(device.scalars[0].ToOutput(g).op());
    vectors.push_back(Stack(device.scalars, 0, "outcomes"));
    if (!vectors.back().valid()) return {};
  }
  return NodeBuilder(g, "DynamicStitch").Name("outcomes").InputList(positions).InputList(vectors).Output();
}

bool SumsBatches(const StalenessPolicy& policy) {
  return std::ranges::any_of(policy.batches_per_push, [](const auto& entry) { return entry.second > 1; });
}

// Which workers of this host sum their gradients; by default none. InvalidArgument if the options do not fit.
StatusOr<HostPlan> PlanFor(const AsyncReplicasOptions& options, const std::vector<GradAndVar>& grads) {
  if (!options.sum_per_host) return HostPlan();
  const auto plan = PlanOfHost(options.cluster, options.worker_device);
  if (!plan.ok()) {
    return InvalidArgument("sum_per_host needs the cluster and the worker_device: ", plan.status().message());
  }
  if (options.staleness.delay_compensation > 0) {
    return InvalidArgument("delay_compensation needs the value that a gradient was computed from, and a sum with ",
                           "sum_per_host has gradients of several values: use gradient_decay or rate_decay instead");
  }
  if (SumsBatches(options.staleness)) {
    return InvalidArgument("batches_per_push above 1 cannot be combined with sum_per_host, which sums gradients for ",
                           "the same purpose: leave out one of them");
  }
  TF_RETURN_IF_ERROR(AsyncSumsGraph::CheckGradients(grads));
  return plan;
}

}  // namespace

Operation AsyncReplicasOptimizer::ApplyGradients(const std::vector<GradAndVar>& grads,
                                                 const ApplyGradientsOptions& options, std::source_location loc) {
  State& s = *state_;
  const StalenessPolicy& policy = s.options.staleness;
  const auto first = std::find_if(grads.begin(), grads.end(), [](const GradAndVar& g) { return g.var.valid(); });
  if (first == grads.end()) return {};
  Graph& g = *first->var.graph(loc);
  if (!g.status().ok()) return {};
  const ScopedLocation at(g, loc);
  const std::string self = StrCat("AsyncReplicasOptimizer (", LocationText(ImplOf(g).UserLine(loc)), ")");
  const Variable& global_step = options.global_step;
  if (const Status checked = policy.Check(); !checked.ok()) {
    g.AddError(InvalidArgument(self, ": ", checked.message()));
  } else if (!global_step.valid()) {
    g.AddError(InvalidArgument(self, " needs a global step: pass it, as in Minimize(loss, {.global_step = ",
                               "GetOrCreateGlobalStep(graph)})"));
  } else if (s.train.valid()) {
    g.AddError(FailedPrecondition(self, ": ApplyGradients may be called only once per optimizer"));
  } else if (s.options.replica < 0) {
    g.AddError(InvalidArgument(self, ": replica must not be negative, got ", s.options.replica));
  }
  if (!g.status().ok()) return {};
  const auto plan = PlanFor(s.options, grads);
  if (!plan.ok()) {
    g.AddError(Status(plan.status().code(), StrCat(self, ": ", plan.status().message())));
    return {};
  }

  std::vector<GradAndVar> pushed = grads;
  std::map<const Node*, Versioned> versions;
  std::map<const Node*, Output> reads;
  Output push;  // whether this step pushes; invalid: every step does
  std::optional<AsyncSumsGraph> host;
  {
    const GraphLock lock(g);  // other threads see the nodes sorted again
    auto scope = g.NameScope(name());
    for (const GradAndVar& grad : grads) {
      if (!grad.grad.valid() || !grad.var.valid()) continue;
      const Output handle = grad.var.handle();
      if (policy.delay_compensation > 0 && !grad.grad.is_sparse()) {
        reads[NodeOf(handle)] = ReadBehind(grad.grad, grad.var);
      }
      std::vector<Node*> readers;
      for (const auto& node : ImplOf(g).nodes()) {
        if (ReadsHandle(*node, handle)) readers.push_back(node.get());
      }
      auto place = g.ColocateWith(handle.op());
      auto no_dependencies = g.ControlDependencies(std::vector<Operation>());
      const Output clock =
          NodeBuilder(g, "_UpdateClock").Name("clock").Attr("shared_name", grad.var.name() + "/updates").Output();
      if (plan->meets && !grad.grad.is_sparse()) {
        versions[NodeOf(handle)] = {clock, {}};  // the values of the host come with their versions
        continue;
      }
      const Output version = NodeBuilder(g, "_ReadUpdateClock").Name("version").Input(clock).Output();
      if (!version.valid()) return {};
      for (Node* reader : readers) ImplOf(g).AddControlEdge(NodeOf(version), reader);
      versions[NodeOf(handle)] = {clock, version};
    }
    // Removes nothing, but sorts the nodes, because the new control edges lead to older nodes.
    ImplOf(g).RemoveNodes({});
    if (plan->meets && !versions.empty()) {
      std::erase_if(pushed, [](const GradAndVar& grad) { return !grad.grad.valid() || !grad.var.valid(); });
      const Operation anchor = NodeBuilder(g, "NoOp").Name("local_anchor").Finish();
      host.emplace(g, AsyncSumsGraph::Options{.plan = *plan, .prefix = ImplOf(g).name_scope() + "/", .async = true},
                   anchor, global_step.handle().op(), pushed, versions);
      host->UseValues();
      s.outcomes = host->AddGradients();
      pushed = host->TakeSums(&versions);
      if (!g.status().ok()) return {};
    } else if (SumsBatches(policy)) {
      push = Accumulate(g, BatchesAt(g, global_step, policy.batches_per_push), &pushed, &versions);
      if (!push.valid()) return {};
    }
  }

  StaleGradientGate gate(self, policy, versions, std::move(reads));
  s.optimizer->gate_ = &gate;
  ApplyGradientsOptions update_options = options;
  if (host) update_options.global_step = {};
  const Operation updated = s.optimizer->ApplyGradients(pushed, update_options, loc);
  s.optimizer->gate_ = nullptr;
  if (!updated.valid()) return {};
  Operation last = updated;

  auto scope = g.NameScope(name());
  if (host) {
    const Operation counted = NodeBuilder(g, "AssignAddVariableOp")
                                  .Input(global_step.handle())
                                  .Input(host->NumSummed(global_step.dtype()))
                                  .Control(updated)
                                  .ColocateWith(global_step.handle().op())
                                  .Finish();
    if (!counted.valid()) return {};
    s.routes = host->Routes(gate.outcomes(), counted);
    if (!g.status().ok()) return {};
    const GraphLock lock(g);
    ImplOf(g).extension<HostRoutesOfGraph>().routes.push_back(*s.routes);
    last = s.outcomes.op();
  }
  if (policy.max_lead || policy.warm_up_steps > 0) {
    auto place = g.ColocateWith(global_step.handle().op());
    const Output clocks = NodeBuilder(g, "_ReplicaClocks")
                              .Name("clocks")
                              .Attr("shared_name", name())
                              .Attr("max_lead", policy.max_lead.value_or(-1))  // -1: no limit
                              .Attr("warm_up_steps", policy.warm_up_steps)
                              .Output();
    const int64_t replica = s.options.replica;
    const auto call = [&](const char* op, const char* node) {
      NodeBuilder builder(g, op);
      builder.Name(node).Input(clocks).Attr("replica", replica);
      return builder;
    };
    s.join = call("_JoinReplicas", "join").Input(global_step.value()).Finish();
    s.leave = call("_LeaveReplicas", "leave").Finish();
    s.heartbeat =
        call("_ReplicaHeartbeat", "heartbeat").Attr("lost_after_ms", int64_t{policy.lost_after.count()}).Finish();
    auto after = g.ControlDependencies({last});
    last = call("_FinishReplicaStep", "wait_for_slower_replicas").Input(global_step.Read()).Finish();
    if (!last.valid()) return {};
  }
  if (!host) {
    s.outcomes = InOneVector(g, gate.outcomes());
    if (!s.outcomes.valid()) return {};
  }
  s.train = last;
  if (push.valid()) {
    const Output after = NodeBuilder(g, "Identity").Name("pushed").Input(s.outcomes).Control(last).Output();
    const Output none =
        NodeBuilder(g, "Const").Attr("value", Tensor::Of<int64_t>({0}, {})).Attr("dtype", kInt64).Output();
    s.outcomes = Merged(g, {after, OnSide(push, /*side=*/false, none)});
    if (!s.outcomes.valid()) return {};
    last = s.outcomes.op();
  }
  if (push.valid() || host) {
    std::vector<Gradient> values;
    for (const GradAndVar& grad : grads) values.push_back(grad.grad);
    std::vector<Operation> all = UpdateOpsOf(g, values);  // these run for every batch
    all.push_back(last);
    s.train = Group(g, all, "train");
  }
  if (!g.status().ok()) return s.train = {};
  RegisterTrainOp(s.train, global_step);
  return s.train;
}

Variable AsyncReplicasOptimizer::GetSlot(const Variable& variable, const std::string& slot) const {
  return state_->optimizer->GetSlot(variable, slot);
}
std::vector<std::string> AsyncReplicasOptimizer::GetSlotNames() const { return state_->optimizer->GetSlotNames(); }
// Never called: ApplyGradients uses the wrapped optimizer to update the variables.
Operation AsyncReplicasOptimizer::Apply(const Gradient&, const Variable&) { return {}; }

Output AsyncReplicasOptimizer::outcomes() const { return state_->outcomes; }
std::shared_ptr<SessionRunHook> AsyncReplicasOptimizer::MakeSessionRunHook() { return std::make_shared<Hook>(state_); }
StalenessCounts AsyncReplicasOptimizer::counts() const {
  MutexLock lock(state_->mu);
  return state_->counts;
}

}  // namespace tensorbraid
