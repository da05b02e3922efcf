#include <algorithm>

#include "core/logging.h"
#include "core/strings.h"
#include "graph/node.h"
#include "tensorbraid/train.h"
#include "train/run_cache.h"
#include "train/session_setup.h"
#include "train/train_op.h"

namespace tensorbraid {

struct MonitoredSession::Impl {
  Impl(Graph& graph, MonitoredTrainingSessionOptions options) : graph(graph), options(std::move(options)) {}

  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds);
  StatusOr<std::vector<Tensor>> EndOfTraining(const Status& why, const std::vector<Fetch>& fetches,
                                              const std::vector<Feed>& feeds);
  bool Trains(const std::vector<Fetch>& fetches) const;
  Status Fail(const Status& status);
  Status Close();

  Graph& graph;
  const MonitoredTrainingSessionOptions options;
  std::unique_ptr<Session> session;
  std::unique_ptr<SessionRunContext> context;
  std::unique_ptr<RunCache> cache;
  std::vector<const Node*> train_ops;
  bool hooks_started = false;
  bool closed = false;
  bool reported = false;  // the user has seen the error
  Status close_status;
  // Last: its threads use what is above.
  Coordinator coordinator;
};

bool MonitoredSession::Impl::Trains(const std::vector<Fetch>& fetches) const {
  if (train_ops.empty()) return true;
  return std::any_of(fetches.begin(), fetches.end(), [&](const Fetch& fetch) {
    return std::any_of(train_ops.begin(), train_ops.end(), [&](const Node* train) {
      return fetch.name().empty() ? fetch.output().node() == train : fetch.name() == train->name();
    });
  });
}

Status MonitoredSession::Impl::Fail(const Status& status) {
  coordinator.RequestStop(status);
  reported = true;
  // What a thread beside this one met first is the reason, and not the cancellation that followed from it.
  const Status first = coordinator.status();
  return absl::IsCancelled(status) && !first.ok() ? first : status;
}

StatusOr<std::vector<Tensor>> MonitoredSession::Impl::Run(const std::vector<Fetch>& fetches,
                                                          const std::vector<Feed>& feeds) {
  if (closed) return FailedPrecondition("Run after Close: the training session is closed");
  const auto& hooks = options.hooks;
  context->BeginRun(&fetches, Trains(fetches));
  std::vector<SessionRunArgs> args;
  args.reserve(hooks.size());
  for (const auto& hook : hooks) args.push_back(hook->BeforeRun(*context));
  auto results = cache->Run(fetches, feeds, args);
  if (!results.ok()) {
    if (absl::IsOutOfRange(results.status())) return EndOfTraining(results.status(), fetches, feeds);
    return Fail(results.status());
  }
  Status status;
  for (size_t i = 0; i < hooks.size(); ++i) {
    const Status s = hooks[i]->AfterRun(*context, results->hooks[i]);
    if (status.ok()) status = s;
  }
  if (!status.ok()) return Fail(status);
  return std::move(results->fetches);
}

StatusOr<std::vector<Tensor>> MonitoredSession::Impl::EndOfTraining(const Status& why,
                                                                    const std::vector<Fetch>& fetches,
                                                                    const std::vector<Feed>& feeds) {
  coordinator.RequestStop(why);
  if (const Status first = coordinator.status(); !first.ok()) return Fail(first);
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
  coordinator.RequestStop();
  Status ended;
  if (hooks_started) {
    for (const auto& hook : options.hooks) {
      const Status s = hook->End(*context, coordinator.status());
      if (ended.ok()) ended = s;
    }
  }
  // Wakes the threads that still wait for something in a run.
  const Status session_closed = session == nullptr ? OkStatus() : session->Close();
  close_status = coordinator.Join();
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

bool MonitoredSession::ShouldStop() const { return impl_->coordinator.ShouldStop(); }

StatusOr<std::vector<Tensor>> MonitoredSession::Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds) {
  return impl_->Run(fetches, feeds);
}

Status MonitoredSession::Close() { return impl_->Close(); }
Session& MonitoredSession::session() const { return *impl_->session; }
Coordinator& MonitoredSession::coordinator() const { return impl_->coordinator; }

StatusOr<std::unique_ptr<MonitoredSession>> MonitoredTrainingSession(Graph& graph,
                                                                     MonitoredTrainingSessionOptions options) {
  TF_RETURN_IF_ERROR(graph.status());
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
  SessionOptions session_options = impl.options.session;
  session_options.target = impl.options.master;
  TF_ASSIGN_OR_RETURN(impl.session,
                      CreateReadySession(graph, ops, session_options, impl.options.is_chief, impl.options.max_wait));
  impl.context = std::make_unique<SessionRunContext>(*impl.session, impl.coordinator, last_step);
  impl.cache = std::make_unique<RunCache>(graph, *impl.session);
  impl.train_ops = TrainOps(graph);
  impl.hooks_started = true;
  for (const auto& hook : impl.options.hooks) {
    const Status status = hook->AfterCreateSession(*impl.context);
    if (!status.ok()) {
      impl.coordinator.RequestStop(status);
      return status;
    }
  }
  impl.reported = false;
  return monitored;
}

}  // namespace tensorbraid
