#include <algorithm>

#include "core/logging.h"
#include "core/strings.h"
#include "graph/node.h"
#include "tensorbraid/train.h"
#include "train/checkpoint_saver.h"
#include "train/run_cache.h"
#include "train/session_setup.h"
#include "train/train_op.h"

namespace tensorbraid {

struct MonitoredSession::Impl {
  Impl(Graph& graph, MonitoredTrainingSessionOptions options) : graph(graph), options(std::move(options)) {}

  // Makes the session and tells the hooks. Called once more for each time that a task was lost.
  Status Start();
  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds);
  StatusOr<std::vector<Tensor>> RunOnce(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds);
  // Whether this error is a loss from which the training can go on with its last checkpoint.
  bool CanRecover(const Status& status) const;
  Status Recover(Status why);
  void Stop();
  StatusOr<std::vector<Tensor>> EndOfTraining(const Status& why, const std::vector<Fetch>& fetches,
                                              const std::vector<Feed>& feeds);
  bool Trains(const std::vector<Fetch>& fetches) const;
  Status Fail(const Status& status);
  Status Close();

  Graph& graph;
  MonitoredTrainingSessionOptions options;
  SetupOps setup_ops;
  std::optional<int64_t> last_step;
  std::unique_ptr<Session> session;
  std::unique_ptr<SessionRunContext> context;
  std::unique_ptr<RunCache> cache;
  std::vector<const Node*> train_ops;
  bool hooks_started = false;
  bool closed = false;
  bool reported = false;  // the user has seen the error
  Status close_status;
  // Last: its threads use what is above.
  std::unique_ptr<Coordinator> coordinator = std::make_unique<Coordinator>();
};

Status MonitoredSession::Impl::Start() {
  SessionOptions session_options = options.session;
  session_options.target = options.master;
  RestoreFn restore;
  if (options.is_chief && options.saver != nullptr && !options.checkpoint_dir.empty()) {
    restore = [this](Session& s) { return RestoreLatest(*options.saver, s, options.checkpoint_dir); };
  }
  TF_ASSIGN_OR_RETURN(
      session, CreateReadySession(graph, setup_ops, session_options, options.is_chief, options.max_wait, restore));
  context = std::make_unique<SessionRunContext>(*session, *coordinator, last_step, !options.checkpoint_dir.empty());
  cache = std::make_unique<RunCache>(graph, *session);
  hooks_started = true;
  for (const auto& hook : options.hooks) TF_RETURN_IF_ERROR(hook->AfterCreateSession(*context));
  return OkStatus();
}

bool MonitoredSession::Impl::CanRecover(const Status& status) const {
  return !closed && !options.checkpoint_dir.empty() && (absl::IsUnavailable(status) || absl::IsAborted(status));
}

void MonitoredSession::Impl::Stop() {
  // First the session, which wakes the threads that still wait for something in a run.
  if (session != nullptr) (void)session->Close();
  coordinator->RequestStop();
  (void)coordinator->Join();
}

Status MonitoredSession::Impl::Recover(Status why) {
  while (CanRecover(why)) {
    TB_LOG(Warning, "train") << "going on from the last checkpoint, because of " << ToString(why);
    Stop();
    cache.reset();
    context.reset();
    coordinator = std::make_unique<Coordinator>();
    hooks_started = false;
    why = Start();
  }
  return why;
}

bool MonitoredSession::Impl::Trains(const std::vector<Fetch>& fetches) const {
  if (train_ops.empty()) return true;
  return std::any_of(fetches.begin(), fetches.end(), [&](const Fetch& fetch) {
    return std::any_of(train_ops.begin(), train_ops.end(), [&](const Node* train) {
      return fetch.name().empty() ? fetch.output().node() == train : fetch.name() == train->name();
    });
  });
}

Status MonitoredSession::Impl::Fail(const Status& status) {
  coordinator->RequestStop(status);
  reported = true;
  // What a thread beside this one met first is the reason, and not the cancellation that followed from it.
  const Status first = coordinator->status();
  return absl::IsCancelled(status) && !first.ok() ? first : status;
}

StatusOr<std::vector<Tensor>> MonitoredSession::Impl::Run(const std::vector<Fetch>& fetches,
                                                          const std::vector<Feed>& feeds) {
  if (closed) return FailedPrecondition("Run after Close: the training session is closed");
  while (true) {
    // A thread beside this one may have met the loss first.
    Status lost = coordinator->status();
    if (!CanRecover(lost)) {
      if (cache == nullptr) return lost;  // an earlier run could not recover
      auto results = RunOnce(fetches, feeds);
      if (results.ok()) return results;
      lost = results.status();
      if (absl::IsCancelled(lost) && CanRecover(coordinator->status())) lost = coordinator->status();
      if (!CanRecover(lost)) return Fail(lost);
    }
    if (const Status recovered = Recover(std::move(lost)); !recovered.ok()) return Fail(recovered);
    // What the hooks found may be that the training is over.
    if (coordinator->ShouldStop() && coordinator->status().ok()) return std::vector<Tensor>(fetches.size());
  }
}

StatusOr<std::vector<Tensor>> MonitoredSession::Impl::RunOnce(const std::vector<Fetch>& fetches,
                                                              const std::vector<Feed>& feeds) {
  const auto& hooks = options.hooks;
  context->BeginRun(&fetches, Trains(fetches));
  std::vector<SessionRunArgs> args;
  args.reserve(hooks.size());
  for (const auto& hook : hooks) args.push_back(hook->BeforeRun(*context));
  auto results = cache->Run(fetches, feeds, args);
  if (!results.ok()) {
    if (absl::IsOutOfRange(results.status())) return EndOfTraining(results.status(), fetches, feeds);
    return results.status();
  }
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
  TB_LOG(Info, "train") << "the training has ended: " << why.message();
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

Status MonitoredSession::Impl::Close() {
  if (closed) return close_status;
  closed = true;
  coordinator->RequestStop();
  Status ended;
  if (hooks_started) {
    for (const auto& hook : options.hooks) {
      const Status s = hook->End(*context, coordinator->status());
      if (ended.ok()) ended = s;
    }
  }
  // Wakes the threads that still wait for something in a run.
  const Status session_closed = session == nullptr ? OkStatus() : session->Close();
  close_status = coordinator->Join();
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
  // The next Run recovers from a loss that a thread has met.
  return impl_->coordinator->ShouldStop() && !impl_->CanRecover(impl_->coordinator->status());
}

StatusOr<std::vector<Tensor>> MonitoredSession::Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds) {
  return impl_->Run(fetches, feeds);
}

Status MonitoredSession::Close() { return impl_->Close(); }
Session& MonitoredSession::session() const { return *impl_->session; }
Coordinator& MonitoredSession::coordinator() const { return *impl_->coordinator; }

StatusOr<std::unique_ptr<MonitoredSession>> MonitoredTrainingSession(Graph& graph,
                                                                     MonitoredTrainingSessionOptions options) {
  TF_RETURN_IF_ERROR(graph.status());
  if (options.checkpoint_dir.empty() && (options.save_checkpoint_secs || options.save_checkpoint_steps)) {
    return InvalidArgument("save_checkpoint_secs and save_checkpoint_steps need a checkpoint_dir");
  }
  if (!options.checkpoint_dir.empty() && options.is_chief) {
    if (options.saver == nullptr) options.saver = std::make_shared<Saver>(graph);
    options.hooks.insert(options.hooks.begin(),
                         CheckpointSaver(options.checkpoint_dir, {.save_secs = options.save_checkpoint_secs,
                                                                  .save_steps = options.save_checkpoint_steps,
                                                                  .saver = options.saver}));
  }
  std::optional<int64_t> last_step;
  for (const auto& hook : options.hooks) {
    TF_RETURN_IF_ERROR(hook->Begin(graph));
    if (const auto step = hook->last_step()) last_step = last_step ? std::min(*last_step, *step) : *step;
  }
  TF_ASSIGN_OR_RETURN(const SetupOps ops, SetupOps::AddTo(graph));
  graph.Finalize("MonitoredTrainingSession");

  // From here on, leaving early closes what has been started.
  std::unique_ptr<MonitoredSession> monitored(
      new MonitoredSession(std::make_unique<MonitoredSession::Impl>(graph, std::move(options))));
  MonitoredSession::Impl& impl = *monitored->impl_;
  impl.reported = true;  // what goes wrong while starting is returned
  impl.setup_ops = ops;
  impl.last_step = last_step;
  impl.train_ops = TrainOps(graph);
  Status status = impl.Start();
  if (impl.CanRecover(status)) status = impl.Recover(status);
  if (!status.ok()) {
    impl.coordinator->RequestStop(status);
    return status;
  }
  impl.reported = false;
  return monitored;
}

}  // namespace tensorbraid
