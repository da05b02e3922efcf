#include "tensorbraid/train/supervisor.h"

#include <algorithm>
#include <atomic>

#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/stop.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "io/file.h"
#include "tensorbraid/ops/summary.h"
#include "train/checkpoints/checkpoint_saver.h"
#include "train/checkpoints/increments.h"
#include "train/replicas/host_routes.h"
#include "train/sessions/run_interrupter.h"
#include "train/sessions/session_manager.h"

namespace tensorbraid {
namespace {

// Whether a number can be that of a step: it is not negative, and an int64 can hold it.
bool IsStep(double number) { return number >= 0 && number < 9e18; }

}  // namespace

struct Supervisor::Impl {
  Impl(Graph& graph, SupervisorOptions options) : graph(graph), options(std::move(options)) {}

  // Adds the operations that the options do not give. Errors are recorded in the graph.
  void AddDefaults(std::source_location loc);
  SessionManagerOptions ManagerOptions(const PrepareSessionOptions& prepare);
  StatusOr<std::shared_ptr<Session>> Prepare(const std::string& target, const PrepareSessionOptions& prepare);
  Status WriteGraph();
  Status StartStandardServices();
  // Starts a thread for which Stop waits before it closes the session.
  void StartService(std::function<Status()> body);
  void StartLoop(std::chrono::milliseconds interval, std::function<Status()> fn);
  // Saves a checkpoint, or an increment if no full one is due. Logs why it cannot be written.
  Status SaveCheckpoint();
  // Remembers that a checkpoint has been written, and adds it to the events.
  Status Saved(const std::string& prefix, std::optional<int64_t> step);
  Status SaveLastCheckpoint();
  Status SaveSummaries();
  struct StepRate {
    int64_t step = 0;
    MonotonicClock::time_point time = {};
  };
  // Writes the number of steps per second since the last call; the first call has nothing to write.
  Status SaveStepRate(StepRate* last);
  // Adds the end of the session to the events, and closes the event file. Does nothing without a writer.
  Status CloseWriter();
  StatusOr<std::optional<int64_t>> StepNow() const;
  StatusOr<std::optional<int64_t>> StepOf(const Tensor& step) const;
  std::string save_path() const;
  bool saves() const { return options.saver != nullptr && options.save_model_every.count() > 0; }
  // Ends the threads and the session.
  Status Stop();

  const GraphRef graph;
  SupervisorOptions options;
  Operation init;
  Operation local_init;
  Output ready;
  Output ready_for_local_init;
  Output summary_op;
  // The value of the global step, for the services: their threads must not look at the graph, which may have been
  // destroyed.
  Output step_value;
  std::shared_ptr<Session> session;  // null before the first session; then the latest, also when it has been closed
  std::vector<HostRouteOps> routes;  // those of the session, if gradients are summed on each host
  std::atomic<bool> stopped{true};   // SummaryComputed and Loop may be called by other threads
  Status stop_status;
  std::unique_ptr<RunInterrupter> interrupter;          // of the session's runs
  bool reported = true;                                 // the caller has received stop_status
  bool saving = false;                                  // whether the service that saves checkpoints was started
  std::optional<int64_t> saved_step;                    // of the latest full checkpoint; -1 without a global step
  std::optional<MonotonicClock::time_point> full_time;  // when the service has saved the last full checkpoint
  Mutex mu;
  CondVar changed;
  int services TB_GUARDED_BY(mu) = 0;  // threads that have not ended
  // Declared last, so that its threads end before the members that they use are destroyed.
  std::unique_ptr<Coordinator> coordinator = std::make_unique<Coordinator>();
};

void Supervisor::Impl::AddDefaults(std::source_location loc) {
  if (!graph->status().ok()) return;
  const ScopedLocation at(*graph, loc);
  const std::string self = StrCat("Supervisor (", LocationText(ImplOf(*graph).UserLine(loc)), ")");
  const auto negative = [](std::chrono::milliseconds time) { return time.count() < 0; };
  if (negative(options.save_model_every) || negative(options.save_increment_every) ||
      negative(options.save_summaries_every) || negative(options.recovery_wait) || negative(options.stop_grace)) {
    return graph->AddError(InvalidArgument(self,
                                           ": save_model_every, save_increment_every, save_summaries_every, "
                                           "recovery_wait and stop_grace must not be negative"));
  }
  const bool saves_increments = options.save_increment_every.count() > 0;
  if (saves_increments && options.save_model_every.count() == 0) {
    return graph->AddError(InvalidArgument(self,
                                           ": save_increment_every needs save_model_every (in Python, save_model_secs),"
                                           " because increments follow a full checkpoint"));
  }
  if (options.checkpoint_basename.empty() || options.checkpoint_basename.find('/') != std::string::npos) {
    return graph->AddError(InvalidArgument(self, ": checkpoint_basename must be a file name without a '/', got '",
                                           options.checkpoint_basename, "'"));
  }
  std::vector<Variable> global;
  for (const Variable& v : graph->variables()) {
    if (!v.local()) global.push_back(v);
  }
  if (!options.is_chief) {
    for (const Variable& v : global) {
      if (!v.handle().op().device().empty()) continue;
      return graph->AddError(FailedPrecondition(
          self, ": variable '", v.name(), "' (", NodeOf(v.handle())->location(),
          ") has no device, so each task would have one of its own, and this task would wait for its value for ever: "
          "place variables on the parameter servers, as with ReplicaDeviceSetter, or make it local"));
    }
  }
  if (!options.global_step.valid()) options.global_step = GetGlobalStep(*graph);
  if (options.global_step.valid()) step_value = options.global_step.handle();
  const auto ops = SetupOps::AddTo(*graph);
  if (!ops.ok()) return graph->AddError(ops.status());
  init = options.init_op.value_or(ops->init);
  local_init = options.local_init_op.value_or(ops->local_init);
  ready_for_local_init = options.ready_for_local_init_op.value_or(ops->not_initialized);
  if (options.ready_op) {
    ready = *options.ready_op;
  } else {
    auto top = graph->NameScope("supervisor/");
    auto no_dependencies = graph->ControlDependencies(std::vector<Operation>());
    ready = ReportUninitializedVariables(*graph, graph->variables());
  }
  if (options.is_chief && !options.logdir.empty()) {
    summary_op = options.summary_op ? *options.summary_op : summary::MergeAll(*graph, summary::kSummaries, loc);
  }
  if (options.saver == nullptr && options.is_chief && !options.logdir.empty() && !global.empty()) {
    options.saver = std::make_shared<Saver>(
        *graph, SaverOptions{.incremental = saves_increments, .follow_increments = HasIncrements(options.logdir)});
  }
  if (saves_increments && options.saver != nullptr && graph->status().ok() && !options.saver->incremental()) {
    graph->AddError(InvalidArgument(self,
                                    ": save_increment_every needs a saver with SaverOptions::incremental (in Python, a "
                                    "tf.train.Saver with incremental_save_restore=True)"));
  }
}

SessionManagerOptions Supervisor::Impl::ManagerOptions(const PrepareSessionOptions& prepare) {
  SessionManagerOptions manager{.init = init,
                                .init_feed = options.init_feed,
                                .init_fn = options.init_fn,
                                .wait_for_checkpoint = prepare.wait_for_checkpoint,
                                .ready_for_local_init = ready_for_local_init,
                                .local_init = local_init,
                                .ready = ready,
                                .recovery_wait = options.recovery_wait,
                                .max_wait = prepare.max_wait};
  if (options.is_chief && options.saver != nullptr && !options.logdir.empty()) {
    manager.restore = [this](Session& s) { return RestoreLatest(*options.saver, s, options.logdir); };
  }
  return manager;
}

StatusOr<std::shared_ptr<Session>> Supervisor::Impl::Prepare(const std::string& target,
                                                             const PrepareSessionOptions& prepare) {
  TF_RETURN_IF_ERROR(graph.CheckExists("Supervisor"));
  TF_RETURN_IF_ERROR(graph->status());
  if (!stopped) {
    const Status ended = Stop();
    TB_LOG(Info, "train") << "the supervisor replaces its session" << (ended.ok() ? "" : ", which ended with ")
                          << (ended.ok() ? "" : ToString(ended));
  }
  if (prepare.wait_for_checkpoint && (options.logdir.empty() || options.saver == nullptr)) {
    return InvalidArgument("wait_for_checkpoint needs a logdir, in which the chief waits for a checkpoint");
  }
  coordinator = std::make_unique<Coordinator>();
  saving = false;
  saved_step.reset();
  SessionOptions session_options = prepare.session;
  session_options.target = target;
  SessionManager manager(*graph, ManagerOptions(prepare));
  TF_ASSIGN_OR_RETURN(
      session, options.is_chief ? manager.PrepareSession(session_options) : manager.WaitForSession(session_options));
  interrupter = std::make_unique<RunInterrupter>([this] {
    coordinator->RequestStop();  // first, so that background threads whose steps are cancelled end without an error
    session->CancelRuns();
  });
  stopped = false;
  reported = false;
  routes = ImplOf(*graph).extension<HostRoutesOfGraph>().routes;
  for (const HostRouteOps& ops : routes) TF_RETURN_IF_ERROR(StartHostRoutes(ops, *session, *coordinator));
  if (options.is_chief && !options.logdir.empty()) {
    TF_RETURN_IF_ERROR(WriteGraph());
    if (prepare.start_standard_services) TF_RETURN_IF_ERROR(StartStandardServices());
  }
  return session;
}

Status Supervisor::Impl::WriteGraph() {
  TF_ASSIGN_OR_RETURN(const std::string text, graph->ToGraphDefText());
  TF_RETURN_IF_ERROR(WriteFile(JoinPath(options.logdir, "graph.pbtxt"), text));
  if (options.summary_writer == nullptr) {
    TF_ASSIGN_OR_RETURN(options.summary_writer, summary::FileWriter::Open(options.logdir));
  }
  summary::FileWriter& writer = *options.summary_writer;
  TF_RETURN_IF_ERROR(writer.Reopen());
  TF_RETURN_IF_ERROR(writer.AddGraph(*graph));
  if (options.saver == nullptr) return OkStatus();
  TF_ASSIGN_OR_RETURN(const std::string meta_graph, options.saver->ToMetaGraphDef());
  return writer.AddMetaGraph(meta_graph);
}

Status Supervisor::Impl::StartStandardServices() {
  if (!options.is_chief) {
    return FailedPrecondition(
        "only the chief's supervisor can start the standard services, because only one task may "
        "save checkpoints and write events");
  }
  if (session == nullptr || stopped) return FailedPrecondition("there is no session: call PrepareOrWaitForSession");
  if (options.logdir.empty()) {
    TB_LOG(Warning, "train") << "the standard services need a logdir; none are started";
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const auto first, StepNow());
  if (first) TF_RETURN_IF_ERROR(options.summary_writer->AddSessionLog(summary::SessionStatus::kStart, *first));
  if (options.save_summaries_every.count() > 0) {
    if (summary_op.valid()) StartLoop(options.save_summaries_every, [this] { return SaveSummaries(); });
    if (first) {
      StartLoop(options.save_summaries_every, [this, rate = StepRate{}]() mutable { return SaveStepRate(&rate); });
    }
  }
  if (saves()) {
    saving = true;
    full_time.reset();
    const std::chrono::milliseconds increments = options.save_increment_every;
    StartLoop(increments.count() > 0 ? std::min(increments, options.save_model_every) : options.save_model_every,
              [this] { return SaveCheckpoint(); });
  }
  return OkStatus();
}

void Supervisor::Impl::StartService(std::function<Status()> body) {
  {
    MutexLock lock(mu);
    ++services;
  }
  coordinator->StartThread([this, body = std::move(body)] {
    const Status status = body();
    if (!status.ok()) coordinator->RequestStop(status);
    MutexLock lock(mu);
    --services;
    changed.NotifyAll();
    return OkStatus();
  });
}

void Supervisor::Impl::StartLoop(std::chrono::milliseconds interval, std::function<Status()> fn) {
  StartService([this, interval, fn = std::move(fn)]() -> Status {
    MonotonicClock::time_point next = MonotonicClock::now();
    while (!coordinator->WaitForStop(next - MonotonicClock::now())) {
      TF_RETURN_IF_ERROR(fn());
      // If a call took longer than the interval, the calls that were due meanwhile are left out.
      next = std::max(next + interval, MonotonicClock::now());
    }
    return OkStatus();
  });
}

StatusOr<std::optional<int64_t>> Supervisor::Impl::StepNow() const {
  if (!step_value.valid()) return std::optional<int64_t>();
  TF_ASSIGN_OR_RETURN(const auto step, session->Run({step_value}));
  return StepOf(step[0]);
}

StatusOr<std::optional<int64_t>> Supervisor::Impl::StepOf(const Tensor& step) const {
  if (step.num_elements() == 1) {
    const auto whole = [](double value) { return std::optional<int64_t>(static_cast<int64_t>(value)); };
    if (step.dtype() == kInt64) return std::optional<int64_t>(step.data<int64_t>()[0]);
    if (step.dtype() == kInt32) return std::optional<int64_t>(step.data<int32_t>()[0]);
    // Older programs count in floats.
    if (step.dtype() == kFloat32 && IsStep(step.data<float>()[0])) return whole(step.data<float>()[0]);
    if (step.dtype() == kFloat64 && IsStep(step.data<double>()[0])) return whole(step.data<double>()[0]);
  }
  return InvalidArgument("the global step '", options.global_step.name(),
                         "' must be a scalar of int64, int32, float32 or float64 that is not negative, it is ",
                         step.ToString());
}

std::string Supervisor::Impl::save_path() const {
  return options.logdir.empty() ? "" : JoinPath(options.logdir, options.checkpoint_basename);
}

Status Supervisor::Impl::SaveCheckpoint() {
  TF_ASSIGN_OR_RETURN(const auto step, StepNow());
  const MonotonicClock::time_point now = MonotonicClock::now();
  const bool increment =
      options.save_increment_every.count() > 0 && full_time && now - *full_time < options.save_model_every;
  TF_ASSIGN_OR_RETURN(const std::string saved, SaveOrGoOn(*options.saver, *session, save_path(), step,
                                                          /*write_meta_graph=*/true, increment));
  if (increment && (saved.empty() || IsIncrement(saved))) return OkStatus();
  full_time = now;
  return saved.empty() ? OkStatus() : Saved(saved, step);
}

Status Supervisor::Impl::Saved(const std::string& prefix, std::optional<int64_t> step) {
  saved_step = step.value_or(-1);
  if (!step) return OkStatus();
  return options.summary_writer->AddSessionLog(summary::SessionStatus::kCheckpoint, *step, prefix);
}

Status Supervisor::Impl::SaveSummaries() {
  std::vector<Fetch> fetches = {summary_op};
  if (step_value.valid()) fetches.emplace_back(step_value);
  const auto values = session->Run(fetches);
  if (!values.ok()) {
    return Annotate(values.status(),
                    "cannot compute the summaries in the background (if they need feeds, set .summary_op = Output() "
                    "and call SummaryComputed)");
  }
  std::optional<int64_t> step;
  if (values->size() > 1) {
    TF_ASSIGN_OR_RETURN(step, StepOf((*values)[1]));
  }
  return options.summary_writer->AddSummary((*values)[0], step);
}

Status Supervisor::Impl::SaveStepRate(StepRate* last) {
  TF_ASSIGN_OR_RETURN(const auto step, StepNow());
  const StepRate now{*step, MonotonicClock::now()};
  const double seconds = std::chrono::duration<double>(now.time - last->time).count();
  const int64_t steps = now.step - last->step;
  const bool is_first = last->time == MonotonicClock::time_point();
  *last = now;
  if (is_first || seconds <= 0) return OkStatus();
  const double rate = static_cast<double>(steps) / seconds;
  return options.summary_writer->AddScalar(options.global_step.name() + "/sec", static_cast<float>(rate), now.step);
}

Status Supervisor::Impl::CloseWriter() {
  if (options.summary_writer == nullptr) return OkStatus();
  const Status logged = options.summary_writer->AddSessionLog(summary::SessionStatus::kStop);
  const Status closed = options.summary_writer->Close();
  return closed.ok() ? logged : closed;
}

Status Supervisor::Impl::SaveLastCheckpoint() {
  if (!saving) return OkStatus();
  TF_ASSIGN_OR_RETURN(const auto step, StepNow());
  if (step && step == saved_step) return OkStatus();
  TF_ASSIGN_OR_RETURN(const std::string saved, SaveAndLog(*options.saver, *session, save_path(), step));
  return Saved(saved, step);
}

Status Supervisor::Impl::Stop() {
  if (stopped) return stop_status;
  stopped = true;
  interrupter.reset();
  coordinator->RequestStop();
  bool quiet = true;
  {
    MutexLock lock(mu);
    quiet = changed.WaitFor(mu, options.stop_grace, [this]() TB_REQUIRES(mu) { return services == 0; });
    if (!quiet) {
      TB_LOG(Warning, "train") << services << " threads of the supervisor have not ended within "
                               << options.stop_grace.count() << " ms; cancelling their steps";
    }
  }
  Status last;
  if (quiet && coordinator->status().ok()) last = SaveLastCheckpoint();
  for (const HostRouteOps& ops : routes) EndHostRoutes(ops, *session);
  // Wakes queue runners that are blocked in a run.
  const Status closed = session->Close();
  stop_status = coordinator->Join();
  if (stop_status.ok()) stop_status = last;
  if (stop_status.ok()) stop_status = closed;
  // Closes the writer last, since the threads have used it.
  const Status writer_closed = CloseWriter();
  if (stop_status.ok()) stop_status = writer_closed;
  return stop_status;
}

Supervisor::Supervisor(Graph& graph, SupervisorOptions options, std::source_location loc)
    : impl_(std::make_unique<Impl>(graph, std::move(options))) {
  impl_->AddDefaults(loc);
  graph.Finalize(StrCat("Supervisor (", LocationText(ImplOf(graph).UserLine(loc)), ") uses it"));
}

Supervisor::~Supervisor() {
  const Status status = impl_->Stop();
  if (!status.ok() && !impl_->reported) {
    TB_LOG(Error, "train") << "the supervisor stopped after an error: " << ToString(status);
  }
}

StatusOr<std::shared_ptr<Session>> Supervisor::PrepareOrWaitForSession(const std::string& target,
                                                                       const PrepareSessionOptions& options) {
  auto session = impl_->Prepare(target, options);
  if (!session.ok()) {
    impl_->coordinator->RequestStop(session.status());
    impl_->reported = true;
  }
  return session;
}

StatusOr<std::unique_ptr<SupervisedSession>> Supervisor::ManagedSession(const std::string& target,
                                                                        const PrepareSessionOptions& options) {
  TF_ASSIGN_OR_RETURN(auto session, PrepareOrWaitForSession(target, options));
  return std::unique_ptr<SupervisedSession>(new SupervisedSession(*this, std::move(session)));
}

Status Supervisor::StartStandardServices() { return impl_->StartStandardServices(); }

Status Supervisor::StartQueueRunners(Session& session, const std::vector<QueueRunner>& runners) {
  if (&session != impl_->session.get() || impl_->stopped) {
    return FailedPrecondition(
        "StartQueueRunners needs the session that PrepareOrWaitForSession returned last, before Stop");
  }
  for (const QueueRunner& runner : runners) TF_RETURN_IF_ERROR(runner.Start(session, *impl_->coordinator));
  return OkStatus();
}

Status Supervisor::Loop(std::chrono::milliseconds interval, std::function<Status()> fn) {
  if (impl_->stopped) return FailedPrecondition("Loop needs a session: call PrepareOrWaitForSession first");
  if (interval.count() < 0) return InvalidArgument("the interval of a loop is negative: ", interval.count(), " ms");
  impl_->StartLoop(interval, std::move(fn));
  return OkStatus();
}

Status Supervisor::SummaryComputed(const Tensor& summary, std::optional<int64_t> step) {
  if (impl_->options.summary_writer == nullptr) {
    return FailedPrecondition(
        "SummaryComputed needs a summary writer, which the chief has after "
        "PrepareOrWaitForSession if it was given a logdir");
  }
  if (!step && !impl_->stopped) {
    TF_ASSIGN_OR_RETURN(step, impl_->StepNow());
  }
  return impl_->options.summary_writer->AddSummary(summary, step);
}

bool Supervisor::ShouldStop() const { return StopRequested() || impl_->coordinator->ShouldStop(); }
void Supervisor::RequestStop(const Status& why) { impl_->coordinator->RequestStop(why); }
void Supervisor::WaitForStop() const {
  const OnStopRequest stop([this] { impl_->coordinator->RequestStop(); });
  impl_->coordinator->WaitForStop();
}

Status Supervisor::Stop() {
  impl_->reported = true;
  return impl_->Stop();
}

bool Supervisor::is_chief() const { return impl_->options.is_chief; }
Coordinator& Supervisor::coordinator() const { return *impl_->coordinator; }
const Variable& Supervisor::global_step() const { return impl_->options.global_step; }
Saver* Supervisor::saver() const { return impl_->options.saver.get(); }
std::string Supervisor::save_path() const { return impl_->save_path(); }
summary::FileWriter* Supervisor::summary_writer() const { return impl_->options.summary_writer.get(); }

SupervisedSession::~SupervisedSession() {
  const Status status = supervisor_.impl_->Stop();
  if (!status.ok() && !supervisor_.impl_->reported) {
    supervisor_.impl_->reported = true;
    TB_LOG(Error, "train") << "the supervised session ended after an error: " << ToString(status);
  }
}

StatusOr<std::vector<Tensor>> SupervisedSession::Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds,
                                                     const RunOptions& options) {
  RunInterrupter* const interrupter = supervisor_.impl_->interrupter.get();  // null once the supervisor has stopped
  if (interrupter != nullptr) interrupter->BeginRun();
  auto results = session_->Run(fetches, feeds, options);
  const bool interrupted = interrupter != nullptr && interrupter->EndRun();
  if (results.ok()) return results;
  if (interrupted) return std::vector<Tensor>(fetches.size());
  const Status& status = results.status();
  supervisor_.RequestStop(status);
  const Status first = supervisor_.coordinator().status();
  if (absl::IsOutOfRange(status) && first.ok()) {
    TB_LOG(Info, "train") << "the training has ended: " << status.message();
    return std::vector<Tensor>(fetches.size());
  }
  supervisor_.impl_->reported = true;
  // If a background thread failed first, its error is the cause, and this cancellation only the consequence.
  return absl::IsCancelled(status) && !first.ok() ? first : status;
}

Status SupervisedSession::Close() { return supervisor_.Stop(); }

}  // namespace tensorbraid
