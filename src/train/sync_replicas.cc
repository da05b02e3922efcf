// Synchronous training, constructed as in TensorFlow (see SyncReplicasOptimizer).
//
// How it ends: when the chief's coordinator stops for any reason, the hook closes the token queue. Workers still
// receive the tokens in the queue; after that, each worker that asks for one gets OutOfRange, which a MonitoredSession
// treats as the end of the training. A worker that has taken the token of the last step is stopped before that by its
// own StopAtStep.
//
// How it resumes: a chief that restarts finds the variables initialised, sets the accumulators to the global step and
// enqueues the first tokens again, which wakes the workers that wait for one. A worker that restarts begins at the
// global step. If an earlier training has closed the token queue, the next chief deletes it, and it is created again.
// A worker that starts between the two finds the queue closed and ends at once, as in TensorFlow. It cannot know that a
// chief will come: after the end of a training it looks the same, and a worker that starts late must end then.
#include <algorithm>

#include "api/update_ops.h"
#include "core/clock.h"
#include "core/logging.h"
#include "core/strings.h"
#include "graph/node.h"
#include "tensorbraid/array_ops.h"
#include "tensorbraid/data_flow_ops.h"
#include "tensorbraid/optimizer.h"
#include "tensorbraid/train.h"
#include "train/replica_setup.h"
#include "train/train_op.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;

constexpr std::chrono::seconds kDroppedReports{10};
// A parameter server that is gone must not delay the end.
constexpr std::chrono::seconds kTokenQueueCloseTimeout{5};

bool Trains(const std::vector<Fetch>& fetches, const Operation& train) {
  return std::any_of(fetches.begin(), fetches.end(), [&](const Fetch& fetch) {
    return fetch.name().empty() ? fetch.output().op() == train : fetch.name() == train.name();
  });
}

// Slices with every row once and increasing indices, as accumulators expect them. Sorting keeps the order of rows with
// the same index, so it does not change their sum.
IndexedSlices WithIncreasingRows(Graph& g, const IndexedSlices& slices) {
  const Output descending = NodeBuilder(g, "Neg").Input(slices.indices).Output();
  const Output count = NodeBuilder(g, "Size").Input(slices.indices).Output();
  const Operation sorted = NodeBuilder(g, "TopKV2").Input(descending).Input(count).Finish();
  if (!sorted.valid()) return {};
  const IndexedSlices increasing = {.values = Gather(slices.values, sorted.output(1)),
                                    .indices = NodeBuilder(g, "Neg").Input(sorted.output(0)).Output(),
                                    .dense_shape = slices.dense_shape};
  const Gradient distinct = Gradient(increasing).WithDistinctRows();
  return distinct.valid() ? distinct.slices() : IndexedSlices();
}

}  // namespace

struct SyncReplicasOptimizer::State {
  std::shared_ptr<Optimizer> optimizer;
  SyncReplicasOptions options;
  Operation train;
  Operation sync;
  Operation init_tokens;
  Operation close_tokens;
  ReplicaSetup setup;
  Output ready;
  Output is_stale;  // whether this step's gradients were stale when they arrived
  std::atomic<int64_t> dropped{0};
};

class SyncReplicasOptimizer::Hook final : public SessionRunHook {
 public:
  Hook(std::shared_ptr<State> state, bool is_chief) : state_(std::move(state)), is_chief_(is_chief) {}

  Status Begin(Graph&) override {
    if (state_->train.valid()) return OkStatus();
    return FailedPrecondition("SyncReplicasOptimizer: call Minimize or ApplyGradients before creating the session");
  }

  Status AfterCreateSession(SessionRunContext& context) override {
    Session& session = context.session();
    last_report_ = Clock::now();
    if (!is_chief_) return OkStatus();
    TF_RETURN_IF_ERROR(session.Run({state_->init_tokens}).status());
    context.coordinator().OnStop([&session, &context, close = state_->close_tokens] {
      if (context.RecoversFrom(context.coordinator().status())) return;  // the other workers continue too
      const Status status = session.Run({close}, {}, {.timeout = kTokenQueueCloseTimeout}).status();
      // Cancelled means that the session is being replaced and the training continues.
      if (!status.ok() && !absl::IsCancelled(status)) {
        TB_LOG(Warning, "train") << "cannot close the token queue, so other workers may not stop: " << ToString(status);
      }
    });
    return QueueRunner({state_->sync}).Start(session, context.coordinator());
  }

  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    SessionRunArgs args;
    if (Trains(context.fetches(), state_->train)) args.fetches.push_back(state_->is_stale);
    return args;
  }

  Status AfterRun(SessionRunContext&, const SessionRunValues& values) override {
    if (values.results.empty()) return OkStatus();
    ++steps_;
    if (!values.results[0].scalar<bool>()) return OkStatus();
    ++dropped_since_report_;
    const int64_t dropped = ++state_->dropped;
    const Clock::time_point now = Clock::now();
    if (now - last_report_ < kDroppedReports) return OkStatus();
    TB_LOG(Info, "train") << "dropped " << dropped_since_report_ << " of this worker's last " << steps_
                          << " gradients because they arrived too late; " << dropped << " dropped since the start";
    last_report_ = now;
    steps_ = dropped_since_report_ = 0;
    return OkStatus();
  }

 private:
  const std::shared_ptr<State> state_;
  const bool is_chief_;
  Clock::time_point last_report_;
  int64_t steps_ = 0;
  int64_t dropped_since_report_ = 0;
};

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
  Graph& g = *first->var.graph();
  if (!g.status().ok()) return {};
  const ScopedLocation at(g, loc);
  const std::string self = StrCat("SyncReplicasOptimizer (", LocationText(g.impl().UserLocation(loc)), ")");
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
  if (!g.status().ok()) return {};

  auto scope = g.NameScope(name());
  const Operation step_place = global_step.handle().op();

  // The step to which this worker's gradients belong. The anchor keeps the variable off the parameter servers.
  Variable local_step;
  {
    const Operation anchor = NodeBuilder(g, "NoOp").Name("local_anchor").Finish();
    auto place = g.ColocateWith(anchor);
    auto top = g.NameScope("");
    local_step =
        Variable(g, {}, Zeros(),
                 {.name = "sync_rep_local_step", .dtype = global_step.dtype(), .trainable = false, .local = true});
  }
  if (!local_step.valid()) return {};
  s.setup.local_step_init = local_step.Assign(global_step);
  const Output my_step = local_step.value();

  // Detects gradients that arrive late. This is free on the device of the global step: a read of the step there runs
  // after the gradients that arrive there.
  std::vector<Gradient> arrived(grads.size());
  std::vector<Operation> arrived_at_step;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].grad.valid()) continue;
    const Operation place = grads[i].var.handle().op();
    const auto arrive = [&](const Output& x) {
      const Output there = NodeBuilder(g, "Identity").Name("arrived").Input(x).ColocateWith(place).Output();
      if (place.device() == step_place.device()) arrived_at_step.push_back(there.op());
      return there;
    };
    if (grads[i].grad.is_sparse()) {
      const IndexedSlices rows = WithIncreasingRows(g, grads[i].grad.slices());
      arrived[i] = IndexedSlices{
          .values = arrive(rows.values), .indices = arrive(rows.indices), .dense_shape = rows.dense_shape};
    } else {
      arrived[i] = arrive(grads[i].grad.dense());
    }
  }
  {
    auto place = g.ColocateWith(step_place);
    NodeBuilder now(g, "ReadVariableOp");
    now.Name("step_on_arrival").Input(global_step.handle()).Attr("dtype", global_step.dtype());
    for (const Operation& op : arrived_at_step) now.Control(op);
    s.is_stale = NodeBuilder(g, "Greater").Name("is_stale").Input(now.Output()).Input(my_step).Output();
  }

  std::vector<Operation> applied;
  std::vector<Operation> chief_inits = {s.setup.local_step_init};
  std::vector<GradAndVar> aggregated;
  for (size_t i = 0; i < grads.size(); ++i) {
    const Variable& var = grads[i].var;
    if (!grads[i].grad.valid()) {
      aggregated.push_back({{}, var});
      continue;
    }
    auto place = g.ColocateWith(var.handle().op());
    const ConditionalAccumulatorOptions options_of_var = {
        .shape = var.shape(), .shared_name = var.name() + "/grad_accum", .name = "accumulator"};
    const auto gather = [&](const auto& accumulator, const auto& gradient) {
      {
        // Reads the step before it applies the gradients. Otherwise the step that these gradients complete could
        // increment the global step first and make them look late.
        const bool at_step = var.handle().op().device() == step_place.device() && s.is_stale.valid();
        auto after =
            g.ControlDependencies(at_step ? std::vector<Operation>{s.is_stale.op()} : std::vector<Operation>());
        applied.push_back(accumulator.ApplyGrad(gradient, my_step));
      }
      chief_inits.push_back(accumulator.SetGlobalStep(global_step.value()));
      aggregated.push_back({accumulator.TakeGrad(needed), var});
    };
    if (arrived[i].is_sparse()) {
      gather(SparseConditionalAccumulator(g, var.dtype(), options_of_var), arrived[i].slices());
    } else {
      gather(ConditionalAccumulator(g, var.dtype(), options_of_var), arrived[i].dense());
    }
  }

  auto place = g.ColocateWith(step_place);
  const FIFOQueue tokens(g, {global_step.dtype()},
                         {.shapes = {Shape()}, .shared_name = "sync_token_q", .name = "sync_token_q"});
  const auto make_tokens = [&](int count, const Output& step) {
    const Output shape =
        NodeBuilder(g, "Const").Attr("value", Tensor::Vector<int32_t>({count})).Attr("dtype", kInt32).Output();
    return NodeBuilder(g, "Fill").Name("tokens").Input(shape).Input(step).Output();
  };

  // The worker's part of the step.
  {
    std::vector<Gradient> values;
    for (const GradAndVar& gradient : grads) values.push_back(gradient.grad);
    const std::vector<Operation> averages = UpdateOpsOf(g, values);
    applied.insert(applied.end(), averages.begin(), averages.end());
    const Operation all_applied = Group(g, applied, "applied");
    auto after = g.ControlDependencies({all_applied});
    const std::vector<Output> token = tokens.Dequeue();
    if (token.empty()) return {};
    s.train = local_step.Assign(token[0]);
  }

  // The chief's part of the step.
  const Operation update = s.optimizer->ApplyGradients(aggregated, {.global_step = global_step});
  if (!update.valid()) return {};
  {
    auto after = g.ControlDependencies({update});
    const int count = std::max(s.options.total_num_replicas, needed);
    s.sync = tokens.EnqueueMany({make_tokens(count, global_step.Read())});
  }
  s.init_tokens = tokens.EnqueueMany({make_tokens(needed, global_step.value())});
  s.close_tokens = tokens.Close(/*cancel_pending_enqueues=*/true);
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
  RegisterTrainOp(s.train, local_step);
  return s.train;
}

Variable SyncReplicasOptimizer::GetSlot(const Variable& variable, const std::string& slot) const {
  return state_->optimizer->GetSlot(variable, slot);
}
std::vector<std::string> SyncReplicasOptimizer::GetSlotNames() const { return state_->optimizer->GetSlotNames(); }
// Never called: ApplyGradients uses the wrapped optimizer to update the variables.
Operation SyncReplicasOptimizer::Apply(const Gradient&, const Variable&) { return {}; }

std::shared_ptr<SessionRunHook> SyncReplicasOptimizer::MakeSessionRunHook(bool is_chief) {
  return std::make_shared<Hook>(state_, is_chief);
}
Operation SyncReplicasOptimizer::init_tokens_op() const { return state_->init_tokens; }
Operation SyncReplicasOptimizer::chief_init_op() const { return state_->setup.chief_init; }
Operation SyncReplicasOptimizer::local_step_init_op() const { return state_->setup.local_step_init; }
Output SyncReplicasOptimizer::ready_for_local_init() const { return state_->ready; }
Operation SyncReplicasOptimizer::close_tokens_op() const { return state_->close_tokens; }
QueueRunner SyncReplicasOptimizer::chief_queue_runner() const {
  return QueueRunner({state_->sync}, {}, state_->close_tokens);
}
int64_t SyncReplicasOptimizer::dropped_gradients() const { return state_->dropped; }

}  // namespace tensorbraid
