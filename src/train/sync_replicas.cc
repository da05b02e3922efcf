// Synchronous training, TensorFlow's construction (see SyncReplicasOptimizer).
//
// How it ends: when the chief's coordinator stops, for whatever reason, the hook closes the token queue. Tokens still
// queued are handed out, then every worker that asks for one gets OutOfRange, which a MonitoredSession takes for the
// end of training. Who has taken the token of the last step stops by its own StopAtStep before that.
//
// How it goes on: a chief that comes back finds the variables alive, lets the accumulators begin at the global step and
// gives out the first tokens again, which wakes the workers that waited for it. A worker that comes back starts at the
// global step. A token queue that an earlier training has closed is forgotten, and made anew, by the next chief.
#include <algorithm>

#include "core/logging.h"
#include "core/strings.h"
#include "tensorbraid/array_ops.h"
#include "tensorbraid/data_flow_ops.h"
#include "tensorbraid/optimizer.h"
#include "tensorbraid/train.h"
#include "train/train_op.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDroppedReports{10};
// A parameter server that is gone must not hold up the end.
constexpr std::chrono::seconds kCloseTimeout{5};

bool Trains(const std::vector<Fetch>& fetches, const Operation& train) {
  return std::any_of(fetches.begin(), fetches.end(), [&](const Fetch& fetch) {
    return fetch.name().empty() ? fetch.output().op() == train : fetch.name() == train.name();
  });
}

}  // namespace

struct SyncReplicasOptimizer::State {
  std::shared_ptr<Optimizer> optimizer;
  SyncReplicasOptions options;
  Operation train;
  Operation sync;
  Operation init_tokens;
  Operation close_tokens;
  Operation forget_tokens;
  Output tokens_closed;
  Operation chief_init;
  Operation local_step_init;
  Output ready;
  Output is_stale;  // whether this step's gradients were of an earlier step when they arrived
  std::atomic<int64_t> dropped{0};
};

class SyncReplicasOptimizer::Hook final : public SessionRunHook {
 public:
  Hook(std::shared_ptr<State> state, bool is_chief) : state_(std::move(state)), is_chief_(is_chief) {}

  Status Begin(Graph&) override {
    if (state_->train.valid()) return OkStatus();
    return FailedPrecondition("SyncReplicasOptimizer: Minimize, or ApplyGradients, must come before the session");
  }

  Status AfterCreateSession(SessionRunContext& context) override {
    Session& session = context.session();
    TF_ASSIGN_OR_RETURN(const auto missing, session.Run({state_->ready}));
    if (missing[0].num_elements() > 0) {
      return FailedPrecondition("SyncReplicasOptimizer: not all variables are initialised: ", missing[0].ToString());
    }
    last_report_ = Clock::now();
    if (!is_chief_) return session.Run({state_->local_step_init}).status();

    TF_ASSIGN_OR_RETURN(const auto closed, session.Run({state_->tokens_closed}));
    if (closed[0].scalar<bool>()) TF_RETURN_IF_ERROR(session.Run({state_->forget_tokens}).status());
    TF_RETURN_IF_ERROR(session.Run({state_->chief_init}).status());
    TF_RETURN_IF_ERROR(session.Run({state_->init_tokens}).status());
    context.coordinator().OnStop([&session, &context, close = state_->close_tokens] {
      if (context.RecoversFrom(context.coordinator().status())) return;  // the others go on too
      const Status status = session.Run({close}, {}, {.timeout = kCloseTimeout}).status();
      // Cancelled: the session is being replaced, and the training goes on.
      if (!status.ok() && !absl::IsCancelled(status)) {
        TB_LOG(Warning, "train") << "cannot tell the other workers that the training is over: " << ToString(status);
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
    TB_LOG(Info, "train") << "of this worker's last " << steps_ << " gradients " << dropped_since_report_
                          << " came too late and were dropped; " << dropped << " since it began";
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
                                                                          const std::vector<Variable>& variables) {
  return state_->optimizer->ComputeGradients(loss, variables);
}

Operation SyncReplicasOptimizer::ApplyGradients(const std::vector<GradAndVar>& grads,
                                                const ApplyGradientsOptions& options) {
  State& s = *state_;
  const auto first = std::find_if(grads.begin(), grads.end(), [](const GradAndVar& g) { return g.var.valid(); });
  if (first == grads.end()) return {};
  Graph& g = *first->var.graph();
  if (!g.status().ok()) return {};
  const Variable& global_step = options.global_step;
  const int needed = s.options.replicas_to_aggregate;
  if (!global_step.valid()) {
    g.AddError(InvalidArgument("SyncReplicasOptimizer needs a global step to count by"));
  } else if (s.train.valid()) {
    g.AddError(FailedPrecondition("SyncReplicasOptimizer: gradients are applied once per optimizer"));
  } else if (needed < 1 || s.options.total_num_replicas < 1) {
    g.AddError(InvalidArgument("SyncReplicasOptimizer: replicas_to_aggregate ", needed, " and total_num_replicas ",
                               s.options.total_num_replicas, " must be positive"));
  }
  if (!g.status().ok()) return {};

  auto scope = g.NameScope(name());
  const Operation step_place = global_step.handle().op();

  // Each worker's own note of the step that its gradients belong to. The anchor keeps it off the parameter servers.
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
  s.local_step_init = local_step.Assign(global_step);
  const Output my_step = local_step.value();

  // What arrives where the global step is can be seen to be late there, at no cost: the read waits for the gradients.
  std::vector<Output> arrived(grads.size());
  std::vector<Operation> arrived_at_step;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].grad.valid()) continue;
    const Operation place = grads[i].var.handle().op();
    arrived[i] = NodeBuilder(g, "Identity").Name("arrived").Input(grads[i].grad).ColocateWith(place).Output();
    if (place.device() == step_place.device()) arrived_at_step.push_back(arrived[i].op());
  }
  {
    auto place = g.ColocateWith(step_place);
    NodeBuilder now(g, "ReadVariableOp");
    now.Name("step_on_arrival").Input(global_step.handle()).Attr("dtype", global_step.dtype());
    for (const Operation& op : arrived_at_step) now.Control(op);
    s.is_stale = NodeBuilder(g, "Greater").Name("is_stale").Input(now.Output()).Input(my_step).Output();
  }

  std::vector<Operation> applied;
  std::vector<Operation> chief_inits = {s.local_step_init};
  std::vector<GradAndVar> aggregated;
  for (size_t i = 0; i < grads.size(); ++i) {
    const Variable& var = grads[i].var;
    if (!grads[i].grad.valid()) {
      aggregated.push_back({{}, var});
      continue;
    }
    auto place = g.ColocateWith(var.handle().op());
    const ConditionalAccumulator accumulator(
        g, var.dtype(), {.shape = var.shape(), .shared_name = var.name() + "/grad_accum", .name = "accumulator"});
    {
      // Had they been applied before the read, their own step could have been taken for a later one.
      const bool at_step = var.handle().op().device() == step_place.device() && s.is_stale.valid();
      auto after = g.ControlDependencies(at_step ? std::vector<Operation>{s.is_stale.op()} : std::vector<Operation>());
      applied.push_back(accumulator.ApplyGrad(arrived[i], my_step));
    }
    chief_inits.push_back(accumulator.SetGlobalStep(global_step.value()));
    aggregated.push_back({accumulator.TakeGrad(needed), var});
  }

  auto place = g.ColocateWith(step_place);
  const FIFOQueue tokens(g, {global_step.dtype()},
                         {.shapes = {Shape()}, .shared_name = "sync_token_q", .name = "sync_token_q"});
  const auto some_tokens = [&](int count, const Output& step) {
    const Output shape =
        NodeBuilder(g, "Const").Attr("value", Tensor::Vector<int32_t>({count})).Attr("dtype", kInt32).Output();
    return NodeBuilder(g, "Fill").Name("tokens").Input(shape).Input(step).Output();
  };

  // The worker's step.
  {
    const Operation all_applied = Group(g, applied, "applied");
    auto after = g.ControlDependencies({all_applied});
    const std::vector<Output> token = tokens.Dequeue();
    if (token.empty()) return {};
    s.train = local_step.Assign(token[0]);
  }

  // The chief's.
  const Operation update = s.optimizer->ApplyGradients(aggregated, {.global_step = global_step});
  if (!update.valid()) return {};
  {
    auto after = g.ControlDependencies({update});
    const int count = std::max(s.options.total_num_replicas, needed);
    s.sync = tokens.EnqueueMany({some_tokens(count, global_step.Read())});
  }
  s.init_tokens = tokens.EnqueueMany({some_tokens(needed, global_step.value())});
  s.close_tokens = tokens.Close(/*cancel_pending_enqueues=*/true);
  s.tokens_closed = tokens.IsClosed();
  s.forget_tokens =
      NodeBuilder(g, "DestroyResourceOp").Input(tokens.handle()).Attr("ignore_lookup_error", true).Finish();
  s.chief_init = Group(g, chief_inits, "chief_init");
  std::vector<Variable> global;
  for (const Variable& v : g.variables()) {
    if (!v.local()) global.push_back(v);
  }
  s.ready = ReportUninitializedVariables(g, global);
  if (!g.status().ok()) return {};
  RegisterTrainOp(s.train, local_step);
  return s.train;
}

Variable SyncReplicasOptimizer::GetSlot(const Variable& variable, const std::string& slot) const {
  return state_->optimizer->GetSlot(variable, slot);
}
std::vector<std::string> SyncReplicasOptimizer::GetSlotNames() const { return state_->optimizer->GetSlotNames(); }
// Never asked: ApplyGradients leaves the variables to the optimizer inside.
Operation SyncReplicasOptimizer::ApplyDense(const Output&, const Variable&) { return {}; }

std::shared_ptr<SessionRunHook> SyncReplicasOptimizer::MakeSessionRunHook(bool is_chief) {
  return std::make_shared<Hook>(state_, is_chief);
}
Operation SyncReplicasOptimizer::init_tokens_op() const { return state_->init_tokens; }
Operation SyncReplicasOptimizer::chief_init_op() const { return state_->chief_init; }
Operation SyncReplicasOptimizer::local_step_init_op() const { return state_->local_step_init; }
Output SyncReplicasOptimizer::ready_for_local_init() const { return state_->ready; }
Operation SyncReplicasOptimizer::close_tokens_op() const { return state_->close_tokens; }
QueueRunner SyncReplicasOptimizer::chief_queue_runner() const { return QueueRunner({state_->sync}); }
int64_t SyncReplicasOptimizer::dropped_gradients() const { return state_->dropped; }

}  // namespace tensorbraid
