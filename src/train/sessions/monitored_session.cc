#include "tensorbraid/train/monitored_session.h"

#include <algorithm>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/stop.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/train/coordinator.h"
#include "tensorbraid/train/file_writer.h"
#include "tensorbraid/train/hooks.h"
#include "train/checkpoints/checkpoint_saver.h"
#include "train/checkpoints/increments.h"
#include "train/sessions/run_cache.h"
#include "train/sessions/run_interrupter.h"
#include "train/sessions/session_manager.h"
#include "train/sessions/train_op.h"

namespace tensorbraid {

bool SessionRunContext::Runs(const Operation& op) const {
  if (!op.valid() || executed_ == nullptr || NodeOf(op)->graph() != &session_.graph()) return false;
  return executed_->at(NodeOf(op)->id());
}

struct MonitoredSession::Impl {
  Impl(Graph& graph, MonitoredTrainingSessionOptions options) : graph(graph), options(std::move(options)) {}

  // Creates the session, starts the queue runners and calls the hooks. Called again each time that a task was lost.
  Status Start();
  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds,
                                    const RunOptions& options, RunMetadata* metadata);
  StatusOr<std::vector<Tensor>> RunOnce(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds,
                                        const RunOptions& options, RunMetadata* metadata);
  // Whether this error means that a task was lost and that training can continue from the latest checkpoint.
  bool CanRecover(const Status& status) const;
  // Replaces the session, which has failed with `why`, until a new one works. Returns an error from which it cannot
  // recover.
  Status Recover(Status why);
  void Stop();
  // Stops because the input has ended: `why` is OutOfRange. If some fetches are operations, fetches the tensors again
  // without them, because these tensors may not depend on the input. Results that cannot be computed are invalid.
  StatusOr<std::vector<Tensor>> EndOfTraining(const Status& why, const std::vector<Fetch>& fetches,
                                              const std::vector<Feed>& feeds);
  Status Fail(const Status& status);
  // If a background thread failed, its error is the cause, and the cancellation of a run only the consequence.
  Status CauseOf(const Status& status) const;
  Status EndHooks();
  // If a connection was lost while the hooks ended, calls End of all hooks again, in a new session.
  Status EndHooksAgain(Status why);
  Status Close();

  const GraphRef graph;
  MonitoredTrainingSessionOptions options;
  SetupOps setup_ops;
  bool reopens_graph = false;         // when the session is closed, for an evaluation after the training
  std::shared_ptr<Saver> warm_start;  // of the variables that the checkpoint has; null: no warm start
  std::optional<int64_t> last_step;
  std::unique_ptr<Session> session;
  std::unique_ptr<SessionRunContext> context;
  std::unique_ptr<RunCache> cache;
  // Interrupts the session's runs. Shared with a callback of Coordinator::OnStop, which another thread may call.
  std::shared_ptr<RunInterrupter> interrupter;
  bool hooks_started = false;
  bool closed = false;
  bool reported = false;  // the caller has received the error
  Status close_status;
  Status end_of_training;  // the OutOfRange with which a run has ended the training
  // Declared last, so that its threads end before the members that they use are destroyed.
  std::unique_ptr<Coordinator> coordinator = std::make_unique<Coordinator>();
};

Status MonitoredSession::Impl::Start() {
  TF_RETURN_IF_ERROR(graph.CheckExists("MonitoredSession"));
  SessionOptions session_options = options.session;
  session_options.target = options.master;
  SessionManagerOptions setup{
      .init = options.init_op.value_or(setup_ops.init),
      .init_feed = options.init_feed,
      .init_fn = options.init_fn,
      .keep_values = true,
      .ready_for_local_init = options.ready_for_local_init_op.value_or(setup_ops.not_initialized),
      .local_init = options.local_init_op.value_or(setup_ops.local_init),
      .ready = options.ready_op.value_or(Output()),
      .global_step = setup_ops.global_step,
      .max_wait = options.max_wait};
  if (options.is_chief && options.saver != nullptr && !options.checkpoint_dir.empty()) {
    setup.restore = [this](Session& s) { return RestoreLatest(*options.saver, s, options.checkpoint_dir); };
    options.saver->ForgetRestored();
  }
  if (warm_start != nullptr) {
    setup.init_fn = [this](Session& s) -> Status {
      TF_RETURN_IF_ERROR(warm_start->Restore(s, options.warm_start_from));
      return options.init_fn == nullptr ? OkStatus() : options.init_fn(s);
    };
  }
  SessionManager manager(*graph, std::move(setup));
  TF_ASSIGN_OR_RETURN(
      session, options.is_chief ? manager.PrepareSession(session_options) : manager.WaitForSession(session_options));
  if (options.saver == nullptr || !options.saver->restored_random_state()) {
    const std::vector<Fetch> initializers(options.input_initializers.begin(), options.input_initializers.end());
    if (!initializers.empty()) TF_RETURN_IF_ERROR(session->Run(initializers).status());
  }
  context.reset(new SessionRunContext(*session, *coordinator, last_step, !options.checkpoint_dir.empty()));
  cache = std::make_unique<RunCache>(*graph, *session);
  interrupter = std::make_shared<RunInterrupter>([this] {
    coordinator->RequestStop();  // first, so that background threads whose steps are cancelled end without an error
    session->CancelRuns();
  });
  // A run that waits, for example for the elements of a queue, must not outlast the failure of a background thread.
  coordinator->OnStop([this, weak = std::weak_ptr<RunInterrupter>(interrupter)] {
    if (coordinator->status().ok()) return;
    if (const auto runs = weak.lock()) runs->InterruptFromNowOn();
  });
  for (const QueueRunner& runner : options.queue_runners) TF_RETURN_IF_ERROR(runner.Start(*session, *coordinator));
  hooks_started = true;
  for (const auto& hook : options.hooks) TF_RETURN_IF_ERROR(hook->AfterCreateSession(*context));
  return OkStatus();
}

bool MonitoredSession::Impl::CanRecover(const Status& status) const {
  return !closed && !options.checkpoint_dir.empty() && (absl::IsUnavailable(status) || absl::IsAborted(status));
}

void MonitoredSession::Impl::Stop() {
  // Closing the session first wakes threads that are blocked in a run.
  if (session != nullptr) (void)session->Close();
  coordinator->RequestStop();
  (void)coordinator->Join();
}

Status MonitoredSession::Impl::Recover(Status why) {
  while (CanRecover(why)) {
    TB_LOG(Warning, "train") << "continuing from the latest checkpoint after an error: " << ToString(why);
    interrupter.reset();
    Stop();
    cache.reset();
    context.reset();
    coordinator = std::make_unique<Coordinator>();
    hooks_started = false;
    why = CauseOf(Start());
  }
  return why;
}

Status MonitoredSession::Impl::Fail(const Status& status) {
  coordinator->RequestStop(status);
  reported = true;
  return CauseOf(status);
}

Status MonitoredSession::Impl::CauseOf(const Status& status) const {
  const Status first = coordinator->status();
  return absl::IsCancelled(status) && !first.ok() ? first : status;
}

StatusOr<std::vector<Tensor>> MonitoredSession::Impl::Run(const std::vector<Fetch>& fetches,
                                                          const std::vector<Feed>& feeds, const RunOptions& run_options,
                                                          RunMetadata* metadata) {
  if (closed) return FailedPrecondition("the training session is closed");
  while (true) {
    // A background thread may have noticed first that a task was lost.
    Status lost = coordinator->status();
    if (!lost.ok() && !CanRecover(lost)) return Fail(lost);
    if (lost.ok()) {
      if (cache == nullptr) return FailedPrecondition("the training session has ended: it could not be created again");
      interrupter->BeginRun();
      auto results = RunOnce(fetches, feeds, run_options, metadata);
      const bool interrupted = interrupter->EndRun();
      if (results.ok()) return results;
      lost = results.status();
      // If no background thread has failed, the run was interrupted because this process was asked to stop.
      if (interrupted && coordinator->status().ok()) return std::vector<Tensor>(fetches.size());
      lost = CauseOf(lost);
      if (!CanRecover(lost)) return Fail(lost);
    }
    if (const Status recovered = Recover(std::move(lost)); !recovered.ok()) return Fail(recovered);
    // The hooks may have found that training is over.
    if (coordinator->ShouldStop() && coordinator->status().ok()) return std::vector<Tensor>(fetches.size());
  }
}

StatusOr<std::vector<Tensor>> MonitoredSession::Impl::RunOnce(const std::vector<Fetch>& fetches,
                                                              const std::vector<Feed>& feeds,
                                                              const RunOptions& run_options, RunMetadata* metadata) {
  const auto& hooks = options.hooks;
  TF_ASSIGN_OR_RETURN(const RunCache::Extent* extent, cache->ExtentOf(fetches, feeds));
  context->BeginRun(&fetches, &extent->executed, extent->trains);
  std::vector<SessionRunArgs> args;
  args.reserve(hooks.size());
  for (const auto& hook : hooks) args.push_back(hook->BeforeRun(*context));
  // A hook that finds an error in BeforeRun passes it to RequestStop.
  if (Status mistake = coordinator->status(); !mistake.ok()) return mistake;
  auto results = cache->Run(fetches, feeds, args, run_options);
  if (!results.ok()) {
    if (absl::IsOutOfRange(results.status())) return EndOfTraining(results.status(), fetches, feeds);
    return results.status();
  }
  if (metadata != nullptr && results->metadata != nullptr) *metadata = *results->metadata;
  Status status;
  for (size_t i = 0; i < hooks.size(); ++i) {
    const Status s = hooks[i]->AfterRun(*context, results->hooks[i]);
    if (status.ok()) status = s;
  }
  TF_RETURN_IF_ERROR(status);
  return std::move(results->fetches);
}

StatusOr<std::vector<Tensor>> MonitoredSession::Impl::EndOfTraining(const Status& why,
                                                                    const std::vector<Fetch>& fetches,
                                                                    const std::vector<Feed>& feeds) {
  coordinator->RequestStop(why);
  if (Status first = coordinator->status(); !first.ok()) return first;
  end_of_training = why;
  // In a graph without operations that train, such as that of an evaluation, every run counts as training.
  if (context->trains() && !TrainOps(*graph).empty()) {
    TB_LOG(Info, "train") << "the training has ended: " << why.message();
  }
  std::vector<Fetch> tensors;
  std::vector<size_t> places;
  for (size_t i = 0; i < fetches.size(); ++i) {
    const bool named = !fetches[i].name().empty();
    if (named ? fetches[i].name().find(':') == std::string::npos : !fetches[i].is_tensor()) continue;
    tensors.push_back(fetches[i]);
    places.push_back(i);
  }
  std::vector<Tensor> results(fetches.size());
  if (tensors.empty() || tensors.size() == fetches.size()) return results;
  auto values = session->Run(tensors, feeds);
  for (size_t i = 0; values.ok() && i < places.size(); ++i) results[places[i]] = std::move((*values)[i]);
  return results;
}

Status MonitoredSession::Impl::EndHooks() {
  Status ended;
  for (const auto& hook : options.hooks) {
    const Status s = hook->End(*context, coordinator->status());
    if (ended.ok()) ended = s;
  }
  return ended;
}

Status MonitoredSession::Impl::EndHooksAgain(Status why) {
  // If a parameter server does not come back, the caller gets the error after this time.
  constexpr std::chrono::seconds kMaxWait{60};
  constexpr int kTries = 5;
  options.max_wait = std::min<std::chrono::milliseconds>(options.max_wait, kMaxWait);
  for (int i = 0; i < kTries && CanRecover(why) && !StopRequested(); ++i) {
    if (!Recover(why).ok()) return why;
    // Goes on only if the hooks have found again that training is over. Otherwise a parameter server has lost its
    // variables, and training would have to continue.
    if (!coordinator->ShouldStop() || !coordinator->status().ok()) return why;
    interrupter.reset();
    why = EndHooks();
  }
  return why;
}

Status MonitoredSession::Impl::Close() {
  if (closed) return close_status;
  interrupter.reset();
  coordinator->RequestStop();
  Status ended;
  if (hooks_started) ended = EndHooks();
  // A background thread may have noticed first that the same task was lost.
  const Status noticed = coordinator->status();
  if (CanRecover(ended) && (noticed.ok() || CanRecover(noticed))) ended = EndHooksAgain(ended);
  interrupter.reset();
  coordinator->RequestStop();
  closed = true;
  // Closing the session wakes threads that are blocked in a run.
  const Status session_closed = session == nullptr ? OkStatus() : session->Close();
  close_status = coordinator->Join();
  if (reopens_graph) {
    const GraphUse use = graph.Use();
    if (use.CheckExists("MonitoredSession::Close").ok()) use->Unfinalize();
  }
  if (close_status.ok()) close_status = ended;
  if (close_status.ok()) close_status = session_closed;
  return close_status;
}

MonitoredSession::MonitoredSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

MonitoredSession::~MonitoredSession() {
  const bool was_closed = impl_->closed;
  const Status status = Close();
  if (!status.ok() && !was_closed && !impl_->reported) {
    TB_LOG(Error, "train") << "the training session was closed after an error: " << ToString(status);
  }
}

bool MonitoredSession::ShouldStop() const {
  if (StopRequested()) return true;
  if (!impl_->coordinator->ShouldStop()) return false;
  const Status status = impl_->coordinator->status();
  // The next run recovers, or returns the error of a background thread.
  return !impl_->CanRecover(status) && (status.ok() || impl_->reported || impl_->closed);
}

StatusOr<std::vector<Tensor>> MonitoredSession::Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds,
                                                    const RunOptions& options, RunMetadata* metadata) {
  return impl_->Run(fetches, feeds, options, metadata);
}

Status MonitoredSession::Close() { return impl_->Close(); }
const Status& MonitoredSession::end_of_training() const { return impl_->end_of_training; }
Session& MonitoredSession::session() const { return *impl_->session; }
Coordinator& MonitoredSession::coordinator() const { return *impl_->coordinator; }

namespace {

// The saver of those variables that the checkpoint has.
StatusOr<std::shared_ptr<Saver>> MakeWarmStart(Graph& graph, const std::string& checkpoint) {
  TF_ASSIGN_OR_RETURN(const IncrementChain chain, FindChain(checkpoint));
  TF_ASSIGN_OR_RETURN(CheckpointCoverage coverage, CoverageOf(chain.full, graph));
  if (coverage.restorable.empty()) {
    return InvalidArgument("warm_start_from: the checkpoint '", checkpoint, "' has none of the graph's variables");
  }
  std::vector<std::string> rest = std::move(coverage.missing);
  rest.insert(rest.end(), coverage.differing.begin(), coverage.differing.end());
  TB_LOG(Info, "train") << "warm start from '" << checkpoint << "': " << coverage.restorable.size() << " variables"
                        << (rest.empty() ? "" : "; these keep their initial values: ") << StrJoin(rest, ", ");
  // TensorFlow has no op that restores increments, so the graph has one only if there are any.
  return std::make_shared<Saver>(graph, SaverOptions{.variables = std::move(coverage.restorable),
                                                     .follow_increments = !chain.increments.empty(),
                                                     .name = "warm_start"});
}

}  // namespace

StatusOr<std::unique_ptr<MonitoredSession>> MonitoredTrainingSession(Graph& graph,
                                                                     MonitoredTrainingSessionOptions options,
                                                                     std::source_location loc) {
  TF_RETURN_IF_ERROR(graph.status());
  const ScopedLocation at(graph, loc);
  if (options.checkpoint_dir.empty() &&
      (options.save_checkpoint_every_steps || options.save_checkpoint_every || options.save_increment_every)) {
    return InvalidArgument(
        "save_checkpoint_every_steps, save_checkpoint_every and save_increment_every need a checkpoint_dir");
  }
  if (options.save_random_state && (options.checkpoint_dir.empty() || options.saver != nullptr)) {
    return InvalidArgument(
        "save_random_state needs a checkpoint_dir, and works only without a saver of your own; with one, set its "
        "SaverOptions::random_state instead");
  }
  if (!options.checkpoint_dir.empty() && options.is_chief) {
    if (options.saver == nullptr) {
      options.saver =
          std::make_shared<Saver>(graph, SaverOptions{.random_state = options.save_random_state,
                                                      .incremental = options.save_increment_every.has_value(),
                                                      .follow_increments = HasIncrements(options.checkpoint_dir)});
    }
    if (options.save_checkpoints) {
      options.hooks.insert(options.hooks.begin(), CheckpointSaver(options.checkpoint_dir,
                                                                  {.every_n_steps = options.save_checkpoint_every_steps,
                                                                   .every = options.save_checkpoint_every,
                                                                   .increment_every = options.save_increment_every,
                                                                   .saver = options.saver}));
    }
  }
  if (options.summary_dir.empty() && (options.save_summaries_every_steps || options.save_summaries_every)) {
    return InvalidArgument("save_summaries_every_steps and save_summaries_every need a summary_dir");
  }
  if (!options.summary_dir.empty() && options.is_chief) {
    TF_ASSIGN_OR_RETURN(std::shared_ptr<summary::FileWriter> writer, summary::FileWriter::Open(options.summary_dir));
    options.hooks.push_back(SummarySaver(options.summary_dir, {.every_n_steps = options.save_summaries_every_steps,
                                                               .every = options.save_summaries_every,
                                                               .writer = writer}));
    if (GetGlobalStep(graph).valid()) options.hooks.push_back(StepCounter({.writer = writer}));
  }
  std::shared_ptr<Saver> warm_start;
  if (!options.warm_start_from.empty() && options.is_chief) {
    TF_ASSIGN_OR_RETURN(warm_start, MakeWarmStart(graph, options.warm_start_from));
  }
  std::optional<int64_t> last_step;
  for (const auto& hook : options.hooks) {
    TF_RETURN_IF_ERROR(hook->Begin(graph));
    if (const auto step = hook->last_step()) last_step = last_step ? std::min(*last_step, *step) : *step;
  }
  TF_ASSIGN_OR_RETURN(const SetupOps ops, SetupOps::AddTo(graph));
  TF_RETURN_IF_ERROR(RegisterChangesOfStep(graph));
  const bool could_change = !graph.finalized();
  const std::string line = LocationText(ImplOf(graph).UserLine(loc));
  graph.Finalize(StrCat("MonitoredTrainingSession (", line, ") uses it"));

  // From here on, an early return closes what has been started.
  std::unique_ptr<MonitoredSession> monitored(
      new MonitoredSession(std::make_unique<MonitoredSession::Impl>(graph, std::move(options))));
  MonitoredSession::Impl& impl = *monitored->impl_;
  impl.reported = true;  // errors during the start are returned
  impl.setup_ops = ops;
  impl.warm_start = std::move(warm_start);
  impl.last_step = last_step;
  impl.reopens_graph = could_change;
  Status status = impl.CauseOf(impl.Start());
  if (impl.CanRecover(status)) status = impl.Recover(status);
  if (!status.ok()) {
    impl.coordinator->RequestStop(status);
    return status;
  }
  impl.reported = false;
  return monitored;
}

}  // namespace tensorbraid
