#include "train/session_setup.h"

#include <algorithm>
#include <thread>

#include "core/logging.h"
#include "core/strings.h"
#include "tensorbraid/optimizer.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kScope[] = "training_session/";
// Short enough to react within 200 ms, long enough to cost nothing.
constexpr std::chrono::milliseconds kPollInterval{50};
// Start-up in any order takes a moment; only a longer wait is worth a line.
constexpr std::chrono::seconds kFirstReport{1};
constexpr std::chrono::seconds kNextReports{10};

std::string Listing(const Tensor& names) {
  constexpr size_t kMost = 5;
  const auto all = names.data<std::string>();
  std::vector<std::string> shown(all.begin(), all.begin() + std::min(all.size(), kMost));
  std::string text = StrJoin(shown, ", ");
  if (all.size() > kMost) text += StrCat(" and ", all.size() - kMost, " more");
  return text;
}

class Setup {
 public:
  Setup(Graph& graph, const SetupOps& ops, const SessionOptions& options, bool is_chief, const RestoreFn& restore)
      : graph_(graph), ops_(ops), options_(options), is_chief_(is_chief), restore_(restore) {}

  // OK: ready, unless waiting_for() says what is missing.
  Status Try(Clock::duration timeout) {
    waiting_for_.clear();
    run_options_.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
    if (session_ == nullptr) {
      TF_ASSIGN_OR_RETURN(session_, Session::Create(graph_, options_));
    }
    TF_ASSIGN_OR_RETURN(const auto missing, Run({ops_.not_initialized}));
    if (missing[0].num_elements() > 0) {
      if (!is_chief_) {
        waiting_for_ = StrCat("the chief to initialise ", Listing(missing[0]));
        return OkStatus();
      }
      TF_RETURN_IF_ERROR(GiveValues(missing[0]));
    } else if (is_chief_ && ops_.global_step.valid()) {
      TF_ASSIGN_OR_RETURN(const auto step, Run({ops_.global_step}));
      const std::string number = step[0].dtype() == kInt64 ? StrCat(step[0].scalar<int64_t>()) : step[0].ToString();
      TB_LOG(Info, "train") << "resuming at step " << number << ": all variables are alive";
    }
    return Run({ops_.local_init}).status();
  }

  // The connections of a session that met a lost or restarted task are of no more use.
  void Reset() { session_.reset(); }
  const std::string& waiting_for() const { return waiting_for_; }
  std::unique_ptr<Session> TakeSession() { return std::move(session_); }

 private:
  Status GiveValues(const Tensor& missing) {
    if (restore_ != nullptr) {
      TF_ASSIGN_OR_RETURN(const bool restored, restore_(*session_));
      if (restored) {
        TF_ASSIGN_OR_RETURN(const auto still_missing, Run({ops_.not_initialized}));
        if (still_missing[0].num_elements() == 0) return OkStatus();
        return FailedPrecondition("the checkpoint does not have all variables: ", Listing(still_missing[0]));
      }
    }
    if (missing.num_elements() < num_variables()) {
      TB_LOG(Warning, "train") << "only some variables are initialised; starting all of them afresh. Missing were "
                               << Listing(missing);
    }
    TF_RETURN_IF_ERROR(Run({ops_.init}).status());
    TB_LOG(Info, "train") << "initialised " << num_variables() << " variables";
    return OkStatus();
  }
  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches) {
    return session_->Run(fetches, {}, run_options_);
  }
  int64_t num_variables() const {
    const auto& all = graph_.variables();
    return std::count_if(all.begin(), all.end(), [](const Variable& v) { return !v.local(); });
  }

  Graph& graph_;
  const SetupOps& ops_;
  const SessionOptions& options_;
  const bool is_chief_;
  const RestoreFn& restore_;
  RunOptions run_options_;
  std::unique_ptr<Session> session_;
  std::string waiting_for_;
};

}  // namespace

StatusOr<SetupOps> SetupOps::AddTo(Graph& graph) {
  SetupOps ops;
  if (const Variable step = GetGlobalStep(graph); step.valid()) ops.global_step = step.value();
  const std::string scope = kScope;
  if (const auto init = graph.FindOperation(scope + "init"); init.ok()) {
    ops.init = *init;
    TF_ASSIGN_OR_RETURN(ops.local_init, graph.FindOperation(scope + "init_local"));
    TF_ASSIGN_OR_RETURN(ops.not_initialized, graph.FindOutput(scope + "not_initialized:0"));
    return ops;
  }
  std::vector<Variable> global;
  std::vector<Variable> local;
  for (const Variable& v : graph.variables()) (v.local() ? local : global).push_back(v);
  auto top = graph.NameScope(scope);
  auto anytime = graph.ControlDependencies(std::vector<Operation>());
  ops.init = VariablesInitializer(graph, global, "init");
  ops.local_init = VariablesInitializer(graph, local, "init_local");
  const Output names = ReportUninitializedVariables(graph, global);
  ops.not_initialized = NodeBuilder(graph, "Identity").Name("not_initialized").Input(names).Output();
  TF_RETURN_IF_ERROR(graph.status());
  return ops;
}

StatusOr<std::unique_ptr<Session>> CreateReadySession(Graph& graph, const SetupOps& ops, const SessionOptions& options,
                                                      bool is_chief, std::chrono::milliseconds max_wait,
                                                      const RestoreFn& restore) {
  const Clock::time_point start = Clock::now();
  Clock::time_point next_report = start + kFirstReport;
  bool reported = false;
  std::string reason;
  Setup setup(graph, ops, options, is_chief, restore);
  while (true) {
    const Clock::duration left = max_wait - (Clock::now() - start);
    const Status status = setup.Try(std::max<Clock::duration>(left, kPollInterval));
    if (status.ok() && setup.waiting_for().empty()) {
      if (reported) {
        TB_LOG(Info, "train") << "ready; the wait is over";
      }
      return setup.TakeSession();
    }
    if (status.ok()) reason = setup.waiting_for();
    if (!status.ok()) {
      const bool passing = absl::IsUnavailable(status) || absl::IsAborted(status);
      if (!passing && !absl::IsDeadlineExceeded(status)) return status;
      // That the last try ran out of time says less than what was missing before it.
      if (passing || reason.empty()) reason = std::string(status.message());
      setup.Reset();
    }
    const Clock::time_point now = Clock::now();
    if (now - start >= max_wait) {
      return DeadlineExceeded("the training session is not ready after ",
                              std::chrono::duration_cast<std::chrono::milliseconds>(max_wait).count() / 1000.0,
                              " s: waiting for ", reason);
    }
    if (now >= next_report) {
      TB_LOG(Info, "train") << "waiting for " << reason;
      reported = true;
      next_report = now + kNextReports;
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

}  // namespace tensorbraid
