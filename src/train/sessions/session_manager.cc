#include "train/sessions/session_manager.h"

#include <algorithm>

#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "train/replicas/replica_setup.h"
#include "train/sessions/run_interrupter.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;

constexpr char kScope[] = "training_session/";
// Tasks may start in any order, so a short wait is normal. Only a longer wait is logged.
constexpr std::chrono::seconds kFirstReport{1};
constexpr std::chrono::seconds kNextReports{10};
// The longer a task has waited, the longer it pauses between two attempts: a quarter of the time, up to this.
constexpr std::chrono::seconds kMaxPause{1};
// How long an attempt may continue after this process was asked to stop. The training has not begun, so nothing is
// lost. Shorter than the 1.5 s after which 'tensorbraid launch' kills its tasks at Ctrl-C.
constexpr std::chrono::seconds kStopGrace{1};

// "a, b and 3 more".
std::string Listing(const std::vector<std::string>& all) {
  constexpr size_t kMost = 5;
  std::vector<std::string> shown(all.begin(), all.begin() + static_cast<int64_t>(std::min(all.size(), kMost)));
  std::string text = StrJoin(shown, ", ");
  if (all.size() > kMost) text += StrCat(" and ", all.size() - kMost, " more");
  return text;
}

}  // namespace

// Creates a session and makes it ready for training. The caller calls Try until the session is ready.
class SessionManager::Attempt {
 public:
  Attempt(Graph& graph, const SessionManagerOptions& options, const SessionOptions& session, bool is_chief)
      : graph_(graph), options_(options), session_options_(session), is_chief_(is_chief) {}

  // After OK the session is ready, unless waiting_for() says what is missing.
  Status Try(Clock::duration timeout) {
    waiting_for_.clear();
    run_options_.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
    if (session_ == nullptr) {
      TF_ASSIGN_OR_RETURN(auto session, Session::Create(graph_, session_options_));
      MutexLock lock(mu_);
      session_ = std::move(session);
    }
    if (is_chief_) {
      TF_RETURN_IF_ERROR(MakeReady());
      if (!waiting_for_.empty()) return OkStatus();
    }
    TF_RETURN_IF_ERROR(Check(options_.ready_for_local_init));
    if (!waiting_for_.empty()) return OkStatus();
    if (options_.local_init.valid()) {
      TB_LOG(Info, "train") << "Running local_init_op.";
      TF_RETURN_IF_ERROR(Run({options_.local_init}).status());
      TB_LOG(Info, "train") << "Done running local_init_op.";
    }
    TF_RETURN_IF_ERROR(Check(options_.ready));
    return waiting_for_.empty() ? SetUpReplicas(graph_, *session_, is_chief_) : OkStatus();
  }

  // Drops the session, which cannot be used any more after it has met a lost or restarted task.
  void Reset() {
    MutexLock lock(mu_);
    session_.reset();
  }
  // Ends the run that Try waits for, so that Try returns an error. Another thread may call this.
  void Cancel() {
    MutexLock lock(mu_);
    if (session_ != nullptr) session_->CancelRuns();
  }
  const std::string& waiting_for() const { return waiting_for_; }
  std::unique_ptr<Session> TakeSession() { return std::move(session_); }

 private:
  // The chief's part: gives the variables their values.
  Status MakeReady() {
    restored_ = false;
    std::vector<std::string> missing;
    if (options_.keep_values) {
      TF_ASSIGN_OR_RETURN(missing, Missing(options_.ready_for_local_init));
      if (missing.empty()) return LogResumed();
    }
    if (options_.restore != nullptr) {
      TF_ASSIGN_OR_RETURN(restored_, options_.restore(*session_));
      if (restored_) return OkStatus();
    }
    if (options_.wait_for_checkpoint) {
      waiting_for_ = "a checkpoint";
      return OkStatus();
    }
    if (!options_.init.valid() && options_.init_fn == nullptr && !options_.local_init.valid()) {
      return FailedPrecondition(
          "the model cannot be made ready: there is no checkpoint, and none of init_op, init_fn and local_init_op");
    }
    if (!missing.empty() && static_cast<int64_t>(missing.size()) < num_variables()) {
      TB_LOG(Warning, "train") << "only some variables are initialised; initialising all of them again; missing: "
                               << Listing(missing);
    }
    if (options_.init.valid()) {
      TF_RETURN_IF_ERROR(session_->Run({options_.init}, options_.init_feed, run_options_).status());
      TB_LOG(Info, "train") << "initialised " << num_variables() << " variables";
    }
    return options_.init_fn == nullptr ? OkStatus() : options_.init_fn(*session_);
  }

  Status LogResumed() {
    if (!options_.global_step.valid()) return OkStatus();
    TF_ASSIGN_OR_RETURN(const auto step, Run({options_.global_step}));
    const std::string number = step[0].dtype() == kInt64 ? StrCat(step[0].scalar<int64_t>()) : step[0].ToString();
    TB_LOG(Info, "train") << "resuming at step " << number << ": all variables are initialised already";
    return OkStatus();
  }

  // Runs `list`, whose value names what is missing. As in TensorFlow, a value that is not a list of strings means that
  // nothing is missing.
  StatusOr<std::vector<std::string>> Missing(const Output& list) {
    if (!list.valid()) return std::vector<std::string>();
    TF_ASSIGN_OR_RETURN(const auto names, Run({list}));
    if (names[0].dtype() != kString) return std::vector<std::string>();
    const auto all = names[0].data<std::string>();
    return std::vector<std::string>(all.begin(), all.end());
  }

  // Checks that `list` names nothing. Missing values are an error on the chief, which has done all that it can. The
  // other tasks wait for the chief instead.
  Status Check(const Output& list) {
    TF_ASSIGN_OR_RETURN(const auto missing, Missing(list));
    if (missing.empty()) return OkStatus();
    if (!is_chief_) {
      waiting_for_ = StrCat("the chief to initialise ", Listing(missing));
      return OkStatus();
    }
    if (restored_) {
      return FailedPrecondition("the checkpoint lacks values for the variables ", Listing(missing));
    }
    return FailedPrecondition(
        "the init operation", options_.init.valid() ? StrCat(" '", options_.init.name(), "'") : " (none given)",
        options_.init_fn == nullptr ? "" : " and init_fn", " left variables without a value: ", Listing(missing));
  }

  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches) {
    return session_->Run(fetches, {}, run_options_);
  }
  int64_t num_variables() const {
    const auto& all = graph_.variables();
    return std::count_if(all.begin(), all.end(), [](const Variable& v) { return !v.local(); });
  }

  Graph& graph_;
  const SessionManagerOptions& options_;
  const SessionOptions& session_options_;
  const bool is_chief_;
  RunOptions run_options_;
  Mutex mu_;                          // for Cancel: held while session_ changes
  std::unique_ptr<Session> session_;  // changed by the thread that calls Try
  std::string waiting_for_;
  bool restored_ = false;
};

StatusOr<SetupOps> SetupOps::AddTo(Graph& graph) {
  SetupOps ops;
  if (const Variable step = GetGlobalStep(graph); step.valid()) ops.global_step = step.value();
  const std::string scope = kScope;
  if (const auto init = graph.FindOperation(scope + "init"); init.ok()) {
    // An earlier call has added the nodes.
    ops.init = *init;
    TF_ASSIGN_OR_RETURN(ops.local_init, graph.FindOperation(scope + "init_local"));
    TF_ASSIGN_OR_RETURN(ops.not_initialized, graph.FindOutput(scope + "not_initialized:0"));
    return ops;
  }
  std::vector<Variable> global;
  std::vector<Variable> local;
  for (const Variable& v : graph.variables()) (v.local() ? local : global).push_back(v);
  auto top = graph.NameScope(scope);
  auto no_dependencies = graph.ControlDependencies(std::vector<Operation>());
  ops.init = VariablesInitializer(graph, global, "init");
  ops.local_init = VariablesInitializer(graph, local, "init_local");
  const Output names = ReportUninitializedVariables(graph, global);
  ops.not_initialized = NodeBuilder(graph, "Identity").Name("not_initialized").Input(names).Output();
  TF_RETURN_IF_ERROR(graph.status());
  return ops;
}

StatusOr<std::unique_ptr<Session>> SessionManager::Create(const SessionOptions& session, bool is_chief) {
  const Clock::time_point start = Clock::now();
  Clock::time_point next_report = start + kFirstReport;
  bool reported = false;
  std::string reason;
  Attempt attempt(graph_, options_, session, is_chief);
  RunInterrupter interrupter([&attempt] { attempt.Cancel(); }, kStopGrace);
  interrupter.BeginRun();  // for the interrupter, all attempts together are one run
  const auto stopped = [&reason] {
    return Cancelled("this process was asked to stop while it waited for ",
                     reason.empty() ? "the training session" : reason);
  };
  while (true) {
    const Clock::duration left = options_.max_wait - (Clock::now() - start);
    const Status status = attempt.Try(std::max<Clock::duration>(left, options_.recovery_wait));
    if (status.ok() && attempt.waiting_for().empty()) {
      if (reported) {
        TB_LOG(Info, "session") << "the training session is ready";
      }
      return attempt.TakeSession();
    }
    if (status.ok()) reason = attempt.waiting_for();
    if (!status.ok()) {
      if (interrupter.MustStopWithin(std::chrono::nanoseconds(0))) return stopped();
      const bool passing = absl::IsUnavailable(status) || absl::IsAborted(status);
      if (!passing && !absl::IsDeadlineExceeded(status)) return status;
      // After a timeout, the reason of an earlier attempt says more.
      if (passing || reason.empty()) reason = StrCat("the servers: ", status.message());
      attempt.Reset();
    }
    const Clock::time_point now = Clock::now();
    if (now - start >= options_.max_wait) {
      return DeadlineExceeded("the training session is not ready after ",
                              std::chrono::duration_cast<std::chrono::milliseconds>(options_.max_wait).count() / 1000.0,
                              " s: waiting for ", reason);
    }
    if (now >= next_report) {
      TB_LOG(Info, "session") << "waiting for " << reason;
      reported = true;
      next_report = now + kNextReports;
    }
    // Each attempt is a step on all parameter servers. If hundreds of workers tried often, they would keep the
    // parameter servers from the chief, for which they wait.
    const auto longer = std::min<Clock::duration>((now - start) / 4, kMaxPause);
    const auto pause = std::min<Clock::duration>(std::max<Clock::duration>(options_.recovery_wait, longer),
                                                 options_.max_wait - (now - start));
    if (interrupter.MustStopWithin(pause)) return stopped();
  }
}

}  // namespace tensorbraid
