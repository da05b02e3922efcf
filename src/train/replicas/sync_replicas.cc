// Synchronous training, constructed as in TensorFlow (see SyncReplicasOptimizer).
//
// The end: when the chief's coordinator stops for any reason, the hook closes the token queue. Workers still receive
// the tokens in the queue; after that, each worker that requests one gets OutOfRange, which a MonitoredSession treats
// as the end of training. A worker that has taken the token of the last step is stopped earlier, by its own StopAtStep.
//
// The restart: a chief that restarts finds the variables initialised, restarts the accumulators and enqueues the first
// tokens again, which wakes the workers that wait for one. A worker that restarts begins at the global step.
//
// Each session of a chief has a number. Workers and accumulators compare stamps, which have the chief's number in the
// upper bits and the global step in the lower bits. Gradients with an older stamp are dropped. So the tokens of a chief
// that was replaced are worthless, whether they wait in the queue, are used by a worker or arrive late. The tokens of a
// stamp are enqueued only once. If a worker's gradient went to one chief and its next token comes from another, the
// worker cannot know whether the gradient was applied, and counts it as dropped.
//
// With sum_per_host, a stamp that the workers wait for takes the place of the tokens (docs/design/0029).
//
// If earlier training has closed the token queue, the next chief deletes the queue, which is then created again. As in
// TensorFlow, a worker that starts before the deletion finds the queue closed and ends at once. The worker cannot wait
// for a new queue instead: it cannot distinguish this case from a start after the end of training, when it has to end.
#include "tensorbraid/optimizers/sync_replicas.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "graph/model/wire_attrs.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/train/coordinator.h"
#include "train/optimizers/key_counts.h"
#include "train/optimizers/wire_option.h"
#include "train/replicas/host_plan.h"
#include "train/replicas/replica_setup.h"
#include "train/replicas/rows_to_sum.h"
#include "train/replicas/sync_hook.h"
#include "train/replicas/sync_sums_graph.h"
#include "train/sessions/train_op.h"
#include "variables/update_ops.h"

namespace tensorbraid {
namespace {

constexpr int64_t kStepsPerChief = int64_t{1} << 40;  // the lower 40 bits of a stamp are the global step

// Name of a collection with the global steps of all SyncReplicasOptimizers.
constexpr char kSyncedSteps[] = "sync_replicas_global_step";

// The number of the chief's latest session, or with `next` the number of a new session.
Output ChiefNumber(Graph& g, const std::string& shared_name, bool next) {
  return NodeBuilder(g, "_ChiefNumber").Name("chief").Attr("next", next).Attr("shared_name", shared_name).Output();
}
Output StampOf(const Output& chief, const Output& step) { return chief * kStepsPerChief + Cast(step, kInt64); }
Output ChiefOf(const Output& stamp) { return FloorDiv(stamp, kStepsPerChief); }
Output StepOf(const Output& stamp, DType dtype) { return Cast(FloorMod(stamp, kStepsPerChief), dtype); }

// A number of tokens, as Tokens needs it.
Output Counts(Graph& g, int count) {
  return NodeBuilder(g, "Const").Attr("value", Tensor::Vector<int32_t>({count})).Attr("dtype", kInt32).Output();
}
// `counts` [1] int32: how many.
Output Tokens(const Output& counts, const Output& stamp) {
  return NodeBuilder(*counts.graph(), "Fill").Name("tokens").Input(counts).Input(stamp).Output();
}

}  // namespace

SyncReplicasOptimizer::SyncReplicasOptimizer(std::shared_ptr<Optimizer> optimizer, SyncReplicasOptions options)
    : Optimizer(options.name), state_(std::make_shared<State>()) {
  if (options.total_num_replicas == 0) options.total_num_replicas = options.replicas_to_aggregate;
  state_->optimizer = std::move(optimizer);
  state_->options = std::move(options);
}
SyncReplicasOptimizer::~SyncReplicasOptimizer() = default;

StatusOr<std::vector<GradAndVar>> SyncReplicasOptimizer::ComputeGradients(const Output& loss,
                                                                          const std::vector<Variable>& variables,
                                                                          std::source_location loc) {
  return state_->optimizer->ComputeGradients(loss, variables, loc);
}

Operation SyncReplicasOptimizer::ApplyGradients(const std::vector<GradAndVar>& grads,
                                                const ApplyGradientsOptions& options, std::source_location loc) {
  State& s = *state_;
  const auto first = std::find_if(grads.begin(), grads.end(), [](const GradAndVar& g) { return g.var.valid(); });
  if (first == grads.end()) return {};
  Graph& g = *first->var.graph(loc);
  if (!g.status().ok()) return {};
  const ScopedLocation at(g, loc);
  SetWireTypesOfVariables(grads, options.wire);
  const std::string self = StrCat("SyncReplicasOptimizer (", LocationText(ImplOf(g).UserLine(loc)), ")");
  const Variable& global_step = options.global_step;
  const int needed = s.options.replicas_to_aggregate;
  if (!global_step.valid()) {
    g.AddError(InvalidArgument(self, " needs a global step: pass it, as in Minimize(loss, {.global_step = ",
                               "GetOrCreateGlobalStep(graph)})"));
  } else if (s.train.valid()) {
    g.AddError(FailedPrecondition(self, ": ApplyGradients may be called only once per optimizer"));
  } else if (needed < 1 || s.options.total_num_replicas < 1) {
    g.AddError(InvalidArgument(self, ": replicas_to_aggregate ", needed, " and total_num_replicas ",
                               s.options.total_num_replicas, " must be positive"));
  }
  StatusOr<HostPlan> plan = HostPlan();
  if (s.options.sum_per_host) {
    plan = PlanOfHost(s.options.cluster, s.options.worker_device);
    if (!plan.ok()) {
      g.AddError(
          InvalidArgument(self, ": sum_per_host needs the cluster and the worker_device: ", plan.status().message()));
    } else if (needed > s.options.total_num_replicas) {
      g.AddError(InvalidArgument(self, ": with sum_per_host each worker contributes one gradient to a step, so ",
                                 "replicas_to_aggregate ", needed, " must be at most total_num_replicas ",
                                 s.options.total_num_replicas));
    }
  }
  const std::vector<Output> synced = g.GetCollection(kSyncedSteps);
  if (g.status().ok() && std::ranges::count(synced, global_step.handle()) > 0) {
    g.AddError(InvalidArgument(self, ": another SyncReplicasOptimizer uses the global step '", global_step.name(),
                               "'. Its updates would make the gradients of this one look stale, and both would stop: ",
                               "give each a global step of its own, or wrap one GroupedOptimizer for all variables"));
  }
  if (!g.status().ok()) return {};
  // The resources that the replicas share have TensorFlow's names for the first optimizer. For a further optimizer, the
  // name of its global step is put before these names.
  const std::string prefix = synced.empty() ? "" : global_step.name() + "/";
  g.AddToCollection(kSyncedSteps, global_step.handle());

  auto scope = g.NameScope(name());
  const Operation step_place = global_step.handle().op();

  // The stamp, and the step, to which this worker's gradients belong. Both variables are colocated with the anchor,
  // which keeps them off the parameter servers.
  const Operation anchor = NodeBuilder(g, "NoOp").Name("local_anchor").Finish();
  Variable local_step, local_stamp;
  {
    auto place = g.ColocateWith(anchor);
    auto top = g.NameScope("");
    local_step =
        Variable(g, {}, Zeros(),
                 {.name = "sync_rep_local_step", .dtype = global_step.dtype(), .trainable = false, .local = true});
    local_stamp =
        Variable(g, {}, Zeros(), {.name = "sync_rep_local_stamp", .dtype = kInt64, .trainable = false, .local = true});
  }
  if (!local_step.valid() || !local_stamp.valid()) return {};
  const auto begin_at = [&](const Output& stamp) {
    return std::vector<Operation>{local_stamp.Assign(stamp), local_step.Assign(global_step)};
  };
  Output chiefs_stamp, workers_stamp;
  {
    auto place = g.ColocateWith(step_place);
    chiefs_stamp = StampOf(ChiefNumber(g, prefix + "sync_chief", /*next=*/true), global_step.value());
    workers_stamp = StampOf(ChiefNumber(g, prefix + "sync_chief", /*next=*/false), global_step.value());
  }
  s.setup.local_step_init = Group(g, begin_at(workers_stamp), "local_step_init");
  Output my_stamp = local_stamp.value();

  // The gradients that are summed on the host; none without sum_per_host.
  std::optional<SyncSumsGraph> host;
  std::vector<Output> host_accumulators;
  if (plan->meets) {
    std::vector<GradAndVar> summed;
    std::ranges::copy_if(grads, std::back_inserter(summed), SyncSumsGraph::CanSum);
    if (!summed.empty()) {
      const int64_t spares = s.options.total_num_replicas - needed;
      host.emplace(g, SyncSumsGraph::Options{.plan = *plan, .prefix = prefix, .spares = spares}, anchor, step_place,
                   std::move(summed));
      host->UseValues();
      if (!g.status().ok()) return {};
      my_stamp = host->stamp();
    }
  }

  std::vector<Operation> applied;
  std::map<std::string, std::vector<Operand>> outcomes;  // whether each gradient came in time, keyed by device
  std::vector<Operation> chief_inits = begin_at(chiefs_stamp);
  std::vector<GradAndVar> aggregated;
  for (size_t i = 0; i < grads.size(); ++i) {
    const Variable& var = grads[i].var;
    if (!grads[i].grad.valid()) {
      aggregated.push_back({{}, var});
      continue;
    }
    // Occurrences of a row are summed on the worker, so that each row is sent once.
    IndexedSlices rows;
    if (grads[i].grad.is_sparse()) rows = RowsToSum(grads[i].grad.slices(), var);
    const bool counted = CountsKeys(var);
    auto place = g.ColocateWith(var.handle().op());
    const ConditionalAccumulatorOptions options_of_var = {.shape = ShapeOfSum(var),
                                                          .reduction_type = counted ? "SUM" : "MEAN",
                                                          .shared_name = prefix + var.name() + "/grad_accum",
                                                          .name = "accumulator"};
    // The gradients are sent to the accumulator, not to the variable, so it gets the variable's wire type for them.
    const StatusOr<WireTypes> wire = WireTypesOf(*NodeOf(var.handle()));
    // Without `apply`, the gradients of the host are summed first.
    const auto gather = [&](const auto& accumulator, NodeBuilder* apply, const char* restart) {
      if (wire.ok() && accumulator.handle().valid() && !counted) {  // counts are sent as they are
        SetWireTypes(NodeOf(accumulator.handle()), WireTypes(Wire::kDefault, wire->gradients));
      }
      if (apply != nullptr) {
        const Output outcome = apply->Output();
        applied.push_back(outcome.op());
        outcomes[outcome.op().device()].emplace_back(outcome);
      } else {
        host_accumulators.push_back(accumulator.handle());
      }
      chief_inits.push_back(NodeBuilder(g, restart).Input(accumulator.handle()).Input(chiefs_stamp).Finish());
      Gradient taken = accumulator.TakeGrad(needed);
      if (counted && taken.valid()) taken = MeansOfCountedRows(taken.slices(), var);
      aggregated.push_back({taken, var});
    };
    if (grads[i].grad.is_sparse()) {
      const SparseConditionalAccumulator accumulator(g, var.dtype(), options_of_var);
      NodeBuilder apply(g, "_SparseAccumulatorApplyGradient");
      apply.Name("apply_grad")
          .Input(accumulator.handle())
          .Input(my_stamp)
          .Input(Cast(rows.indices, kInt64))
          .Input(rows.values)
          .Input(Cast(rows.dense_shape, kInt64))
          .Attr("has_known_shape", true);
      gather(accumulator, &apply, "_AccumulatorRestart");
    } else {
      const ConditionalAccumulator accumulator(g, var.dtype(), options_of_var);
      const char* const restart = "_ResourceAccumulatorRestart";
      if (host && SyncSumsGraph::CanSum(grads[i])) {
        gather(accumulator, nullptr, restart);
      } else {
        NodeBuilder apply(g, "_ResourceAccumulatorApplyGradient");
        apply.Name("apply_grad").Input(accumulator.handle()).Input(my_stamp).Input(grads[i].grad.dense());
        gather(accumulator, &apply, restart);
      }
    }
    if (!g.status().ok()) return {};
  }
  {
    auto place = g.ColocateWith(step_place);
    s.tokens =
        FIFOQueue(g, {kInt64}, {.shapes = {Shape()}, .shared_name = prefix + "sync_token_q", .name = "sync_token_q"});
  }
  const FIFOQueue& tokens = s.tokens;

  // The worker's part of the step.
  Output same_chief, summed;
  if (host) {
    summed = host->AddGradients();
    if (!summed.valid()) return {};
    applied.push_back(summed.op());
    s.routes = host->Routes(host_accumulators);
    if (!g.status().ok()) return {};
    const GraphLock lock(g);
    ImplOf(g).extension<HostRoutesOfGraph>().routes.push_back(*s.routes);
  }
  {
    std::vector<Gradient> values;
    for (const GradAndVar& gradient : grads) values.push_back(gradient.grad);
    const std::vector<Operation> averages = UpdateOpsOf(g, values);
    applied.insert(applied.end(), averages.begin(), averages.end());
    const Operation all_applied = Group(g, applied, "applied");
    auto after = g.ControlDependencies({all_applied});
    Output next;  // the stamp of this worker's next step
    if (host) {
      next = host->NextStamp({all_applied});
    } else if (const std::vector<Output> token = tokens.Dequeue(); !token.empty()) {
      next = token[0];
    }
    if (!next.valid()) return {};
    auto here = g.ColocateWith(anchor);
    const Operation stamped = local_stamp.Assign(next);
    same_chief = Equal(ChiefOf(next), ChiefOf(my_stamp));
    auto after_stamp = g.ControlDependencies({stamped});
    s.train = local_step.Assign(StepOf(next, global_step.dtype()));
  }
  {
    // One tensor from each device, and whether the new token comes from the same chief as the one before.
    std::vector<Operand> parts;
    for (const auto& [device, some] : outcomes) {
      auto there = g.ColocateWith(some[0].ToOutput(g).op());
      parts.emplace_back(Stack(some));
    }
    auto here = g.ColocateWith(anchor);
    if (host) parts.emplace_back(summed);
    parts.emplace_back(ExpandDims(same_chief, 0));
    s.applied = Concat(parts, 0, "applied_gradients");
  }

  // The chief's part of the step. The number of the chief is read before gradients are taken. So if another chief
  // begins while this step waits for gradients, the step's tokens get the old number, which makes them worthless.
  auto place = g.ColocateWith(step_place);
  s.chief = ChiefNumber(g, prefix + "sync_chief", /*next=*/false);
  s.first_stamp = StampOf(s.chief, global_step.value());
  const std::string top;  // as in TensorFlow, which leaves all name scopes here
  s.optimizer->outer_scope_ = &top;
  const Operation update = s.optimizer->ApplyGradients(aggregated, {.global_step = global_step});
  s.optimizer->outer_scope_ = nullptr;
  if (!update.valid()) return {};
  {
    auto after = g.ControlDependencies({update});
    const int count = std::max(s.options.total_num_replicas, needed);
    const Output stamp = StampOf(s.chief, global_step.Read());
    s.sync = host ? host->Publish(stamp, /*reopens=*/false) : tokens.EnqueueMany({Tokens(Counts(g, count), stamp)});
  }
  if (s.options.after_update) {
    auto after = g.ControlDependencies({s.sync});
    auto outside = g.NameScope("");
    s.sync = std::exchange(s.options.after_update, nullptr)();
    if (g.status().ok() && !s.sync.valid()) {
      g.AddError(InvalidArgument(self, ": after_update has returned no operation"));
    }
    if (!g.status().ok()) return {};
  }
  s.init_tokens = host ? host->Publish(s.first_stamp, /*reopens=*/true)
                       : tokens.EnqueueMany({Tokens(Counts(g, needed), s.first_stamp)});
  s.close_tokens = host ? host->EndAll() : tokens.Close(/*cancel_pending_enqueues=*/true);
  s.setup.tokens_closed = tokens.IsClosed();
  s.setup.forget_tokens =
      NodeBuilder(g, "DestroyResourceOp").Input(tokens.handle()).Attr("ignore_lookup_error", true).Finish();
  s.setup.chief_init = Group(g, chief_inits, "chief_init");
  std::vector<Variable> global;
  for (const Variable& v : g.variables()) {
    if (!v.local()) global.push_back(v);
  }
  s.ready = ReportUninitializedVariables(g, global);
  if (!g.status().ok()) return {};
  s.setup.AddTo(g);
  RegisterTrainOp(s.train, global_step, local_step);
  ImplOf(g).extension<SyncTrainOps>().ops.push_back(s.train);
  return s.train;
}

Variable SyncReplicasOptimizer::GetSlot(const Variable& variable, const std::string& slot) const {
  return state_->optimizer->GetSlot(variable, slot);
}
std::vector<std::string> SyncReplicasOptimizer::GetSlotNames() const { return state_->optimizer->GetSlotNames(); }
// Never called: ApplyGradients uses the wrapped optimizer to update the variables.
Operation SyncReplicasOptimizer::Apply(const Gradient&, const Variable&) { return {}; }

StatusOr<Operation> SyncReplicasOptimizer::State::InitTokens(int num_tokens) const {
  if (num_tokens == -1) return init_tokens;
  const int few = std::max(options.replicas_to_aggregate - options.total_num_replicas, 0);
  if (num_tokens < few) {
    return InvalidArgument("SyncReplicasOptimizer '", options.name,
                           "': too few tokens to finish the first step: ", num_tokens, " given, ", few,
                           " needed (replicas_to_aggregate ", options.replicas_to_aggregate, " - total_num_replicas ",
                           options.total_num_replicas, "); -1 makes ", options.replicas_to_aggregate);
  }
  if (routes) {
    return Unimplemented("SyncReplicasOptimizer '", options.name, "': num_tokens ", num_tokens,
                         " with sum_per_host: leave num_tokens out, or sum_per_host");
  }
  Graph& g = *tokens.handle().graph();
  auto top = g.NameScope("");
  auto scope = g.NameScope(options.name);
  auto place = g.ColocateWith(tokens.handle().op());
  const Output first = Equal(chief, int64_t{0});
  const Output counts = Select(Reshape(first, {1}), Counts(g, num_tokens),
                               Counts(g, std::max(num_tokens, options.replicas_to_aggregate)));
  const Operation op = tokens.EnqueueMany({Tokens(counts, first_stamp)});
  TF_RETURN_IF_ERROR(g.status());
  return op;
}

std::shared_ptr<SessionRunHook> SyncReplicasOptimizer::MakeSessionRunHook(bool is_chief, int num_tokens) {
  return std::make_shared<Hook>(state_, is_chief, num_tokens);
}
Operation SyncReplicasOptimizer::init_tokens_op(int num_tokens) const {
  StatusOr<Operation> op = state_->InitTokens(num_tokens);
  if (op.ok()) return *op;
  if (state_->train.valid()) state_->train.graph()->AddError(op.status());
  return {};
}
Operation SyncReplicasOptimizer::chief_init_op() const { return state_->setup.chief_init; }
Operation SyncReplicasOptimizer::local_step_init_op() const { return state_->setup.local_step_init; }
Output SyncReplicasOptimizer::ready_for_local_init() const { return state_->ready; }
Operation SyncReplicasOptimizer::close_tokens_op() const { return state_->close_tokens; }
QueueRunner SyncReplicasOptimizer::chief_queue_runner() const {
  return QueueRunner({state_->sync}, {}, state_->close_tokens);
}
int64_t SyncReplicasOptimizer::dropped_gradients() const { return state_->dropped; }

}  // namespace tensorbraid
