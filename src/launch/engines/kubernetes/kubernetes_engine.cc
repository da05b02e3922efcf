#include "launch/engines/kubernetes/kubernetes_engine.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kTick{250};
// How often the states of the pods are asked for: while some of them start or stop, and otherwise.
constexpr milliseconds kPollWhileChanging{500};
constexpr milliseconds kPoll{2000};
constexpr int kSlowerWithWatch = 5;  // so many times
// How long the last state of a pod that is gone may still be on its way through the watch.
constexpr seconds kWatchDelay{5};
// How long after a pod's end its log may stay silent until it is given up, and how long if the pod is gone.
constexpr seconds kLogSilence{10};
constexpr seconds kLogOfGonePod{2};
// How long Kubernetes may take to kill a pod, until the launcher no longer waits for that.
constexpr seconds kKillPatience{10};
constexpr seconds kEndPatience{10};  // for the deletion of everything
// The rests of so many logs are read at once.
constexpr int kMaxRests = 8;

}  // namespace

KubernetesEngine::KubernetesEngine(KubernetesJob job, std::vector<std::string> kubectl)
    : job_(std::move(job)),
      kubectl_{std::move(kubectl), job_.name_space, job_.name, KindsOf(job_)},
      objects_(kubectl_, &job_, [this](const auto& text) { Tell(text); }),
      soft_deletion_(kubectl_, {StrCat("--grace-period=", job_.grace_s)}, [this](const auto& text) { Tell(text); }),
      hard_deletion_(kubectl_, {"--grace-period=0", "--force"}, [this](const auto& text) { Tell(text); }),
      watch_(kubectl_, RunSelector(job_), [this](const PodEvent& event) { HandleEvent(event); }) {}

KubernetesEngine::~KubernetesEngine() {
  const auto deadline = MonotonicClock::now() + kEndPatience;
  // Pods that are being created would otherwise appear after the deletion.
  const bool is_quiet = creation_ == nullptr || creation_->AwaitEnd(deadline);
  if (!objects_.DeleteAll(deadline) || !is_quiet)
    listener_->OnMessage("the cluster may still have objects of this job; delete them: " + kubectl_.DeleteCommand());
}

std::vector<std::string> KubernetesEngine::CleanUpCommand() const { return DeleteRunCommand(kubectl_, job_); }

std::unique_ptr<KubectlCall> KubernetesEngine::Call(const std::vector<std::string>& command, std::string input,
                                                    std::function<void(std::string_view)> on_line) {
  auto call = KubectlCall::Start(command, std::move(input), std::move(on_line));
  if (call.ok()) return *std::move(call);
  listener_->OnFailure(call.status());
  return nullptr;
}

void KubernetesEngine::Tell(const std::string& text) {
  if (told_.insert(text).second) listener_->OnMessage(text);
}

StatusOr<std::string> KubernetesEngine::Describe(const std::vector<std::string>& tasks) const {
  std::vector<std::string> pods;
  for (const std::string& task : tasks) pods.push_back(PodName(job_, task));
  std::string text = StrCat("'", StrJoin(kubectl_.Command({"create", "-f", "-"}), " "), "' would get\n");
  if (job_.lost_launcher_s > 0) text += LifelineManifest(job_);
  text += ServiceManifest(job_);
  if (!job_.files.empty()) text += SecretManifest(job_, /*secret_values=*/false);
  return StrCat(text, "and the pods ", StrJoin(pods, ", "), "\n");
}

std::vector<std::string> KubernetesEngine::KnownAddresses(const std::vector<std::string>& tasks) const {
  std::vector<std::string> addresses;
  for (const std::string& task : tasks) addresses.push_back(PodAddress(job_, task));
  return addresses;
}

std::string KubernetesEngine::DescribeStart(const std::string& task, const ProgramCall& call, bool knows_flags) const {
  return StrCat("the pod of ", task, " would be\n", PodManifest(job_, task, call, knows_flags));
}

void KubernetesEngine::Place(const std::vector<std::string>& tasks, EngineListener* listener) {
  listener_ = listener;
  if (const Status status = CheckJob(job_, tasks); !status.ok()) return listener_->OnFailure(status);
  ticks_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const timespec tick = {.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(kTick).count()};
  const itimerspec every_tick = {.it_interval = tick, .it_value = tick};
  if (!ticks_.is_open() || ::timerfd_settime(ticks_.get(), 0, &every_tick, nullptr) != 0) {
    return listener_->OnFailure(absl::ErrnoToStatus(errno, "cannot make a timer"));
  }
  for (const std::string& task : tasks) tasks_.push_back({.name = task, .pod = PodName(job_, task)});
  const bool has_lifeline = job_.lost_launcher_s > 0;
  listener_->OnMessage(StrCat("job ", job_.name, " in namespace ", job_.name_space,
                              "; if this launcher is killed, its pods go on ",
                              has_lifeline ? StrCat("for ", job_.lost_launcher_s, " s, or ") : "",
                              "until you delete them: ", kubectl_.DeleteCommand()));
  if (const Status status = objects_.Create(); !status.ok()) listener_->OnFailure(status);
}

void KubernetesEngine::HandlePlacing() {
  if (const Status status = objects_.Handle(); !status.ok()) return listener_->OnFailure(status);
  if (!objects_.are_there() || std::exchange(is_placed_, true)) return;
  std::vector<TaskPlace> places;
  for (const PodTask& task : tasks_) places.push_back({.node = "", .address = PodAddress(job_, task.name)});
  listener_->OnPlaced(std::move(places));
}

void KubernetesEngine::Start(size_t number, const ProgramCall& call, bool knows_flags) {
  PodTask& task = tasks_[number];
  PodTask next{.name = task.name, .pod = task.pod, .phase = PodTask::Phase::kQueued};
  next.manifest = PodManifest(job_, task.name, call, knows_flags);
  next.had_pod = next.must_vanish = task.had_pod;
  next.has_output = true;
  task = std::move(next);
  if (task.must_vanish) hard_deletion_.Add(task.pod);
}

void KubernetesEngine::Signal(size_t number, int signal) {
  PodTask& task = tasks_[number];
  if (task.phase == PodTask::Phase::kIdle) return;
  if (task.phase == PodTask::Phase::kQueued) {
    task.phase = PodTask::Phase::kIdle;
    EndOutput(number);
    TaskEnd end;
    end.process.signal = signal;
    return listener_->OnEnd(number, end);
  }
  task.signal = signal;
  if (signal == SIGKILL) task.give_up_at = MonotonicClock::now() + kKillPatience;
  if (task.phase == PodTask::Phase::kCreating) return;  // deleted as soon as it is there
  (signal == SIGKILL ? hard_deletion_ : soft_deletion_).Add(task.pod);
}

void KubernetesEngine::CloseOutput(size_t number) { EndOutput(number); }

void KubernetesEngine::EndOutput(size_t number) {
  PodTask& task = tasks_[number];
  task.log.reset();
  if (!task.has_output) return;
  task.has_output = false;
  listener_->OnOutputEnd(number);
}

void KubernetesEngine::AddEvents(std::vector<pollfd>* events) {
  StartCalls();
  if (ticks_.is_open()) events->push_back({ticks_.get(), POLLIN, 0});
  for (KubectlCall* call : {creation_.get(), poll_.get()}) {
    if (call != nullptr) call->AddEvents(events);
  }
  objects_.AddEvents(events);
  for (PodDeletion* deletion : {&soft_deletion_, &hard_deletion_}) deletion->AddEvents(events);
  watch_.AddEvents(events);
  for (PodTask& task : tasks_) {
    if (task.log != nullptr) task.log->AddEvents(events);
  }
}

void KubernetesEngine::Handle() {
  uint64_t ticks = 0;
  [[maybe_unused]] const ssize_t got = ::read(ticks_.get(), &ticks, sizeof ticks);
  HandlePlacing();
  HandleCreation();
  for (PodDeletion* deletion : {&soft_deletion_, &hard_deletion_}) {
    if (deletion->Handle()) PollSoon();
  }
  watch_.Handle();
  HandlePoll();
  const auto now = MonotonicClock::now();
  for (size_t i = 0; i < tasks_.size(); ++i) {
    HandleLog(i);
    PodTask& task = tasks_[i];
    if (task.end.has_value() && (!task.has_output || now >= task.report_at)) ReportEnd(i);
    if (task.phase != PodTask::Phase::kIdle && task.give_up_at.has_value() && now >= *task.give_up_at) {
      TaskEnd end;
      end.lost = "the cluster has not confirmed that its pod has ended";
      task.end = end;
      ReportEnd(i);
    }
  }
}

void KubernetesEngine::PollSoon() { next_poll_ = std::min(next_poll_, MonotonicClock::now() + kTick); }

bool KubernetesEngine::AnyChanging() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const PodTask& task) {
    return task.phase == PodTask::Phase::kQueued || task.phase == PodTask::Phase::kStarting ||
           (task.phase == PodTask::Phase::kRunning && task.signal != 0);
  });
}

void KubernetesEngine::StartCalls() {
  if (!is_placed_) return;
  StartCreation();
  soft_deletion_.StartCalls();
  hard_deletion_.StartCalls();
  watch_.StartCalls();
  objects_.StartCalls();
  int rests = 0;
  for (const PodTask& task : tasks_) rests += task.log != nullptr && task.end.has_value() && !task.log_follows ? 1 : 0;
  for (size_t i = 0; i < tasks_.size() && rests < kMaxRests; ++i) {
    const PodTask& task = tasks_[i];
    if (!task.end.has_value() || !task.needs_rest || task.log != nullptr || !task.has_output) continue;
    StartLog(i, /*follow=*/false);
    ++rests;
  }
  const bool is_idle = std::all_of(tasks_.begin(), tasks_.end(), [](const PodTask& task) {
    return task.phase == PodTask::Phase::kIdle || task.phase == PodTask::Phase::kCreating;
  });
  if (poll_ != nullptr || is_idle || MonotonicClock::now() < next_poll_) return;
  ++polls_;
  poll_ = Call(
      kubectl_.Command({"get", "pods", "--selector=" + RunSelector(job_), "--output=json", "--request-timeout=20s"}));
}

void KubernetesEngine::StartCreation() {
  if (creation_ != nullptr) return;
  std::vector<std::string> manifests;
  for (PodTask& task : tasks_) {
    if (task.phase != PodTask::Phase::kQueued || task.must_vanish) continue;
    task.phase = PodTask::Phase::kCreating;
    task.had_pod = true;  // perhaps, if kubectl fails
    manifests.push_back(task.manifest);
  }
  if (manifests.empty()) return;
  creation_ = Call(CreateCommand(kubectl_), ListManifest(manifests));
}

void KubernetesEngine::HandleCreation() {
  if (creation_ == nullptr || !creation_->Handle()) return;
  const Status status = creation_->status();
  const auto created = CreatedUids(creation_->output());
  creation_.reset();
  PollSoon();
  for (size_t i = 0; i < tasks_.size(); ++i) {
    PodTask& task = tasks_[i];
    if (task.phase != PodTask::Phase::kCreating) continue;
    const auto found = created.find("Pod/" + task.pod);
    if (found == created.end()) {
      const Status why = status.ok() ? absl::InternalError("kubectl has not created " + task.pod) : status;
      const Status refused = kubectl_.Explained(ErrorOf(task.pod, why));
      const bool of_cluster = absl::IsPermissionDenied(refused) || absl::IsNotFound(refused);  // and not of the program
      FailStart(i, of_cluster ? FailedPrecondition(std::string(refused.message())) : refused);
      continue;
    }
    task.phase = PodTask::Phase::kStarting;
    task.uid = found->second;
    task.first_poll = polls_ + 1;
    task.created = MonotonicClock::now();
    if (task.signal != 0) Signal(i, task.signal);
  }
}

void KubernetesEngine::HandlePoll() {
  if (poll_ == nullptr || !poll_->Handle()) return;
  const Status status = poll_->status();
  auto pods = status.ok() ? ParsePods(poll_->output()) : StatusOr<std::map<std::string, PodState>>(status);
  poll_.reset();
  next_poll_ =
      MonotonicClock::now() + (AnyChanging() ? kPollWhileChanging : kPoll) * (watch_.is_alive() ? kSlowerWithWatch : 1);
  if (absl::IsPermissionDenied(status) && !was_polled_) return listener_->OnFailure(kubectl_.Explained(status));
  if (!pods.ok()) {
    if (!poll_failed_) {
      listener_->OnMessage(StrCat("the states of the pods are unknown, trying again: ",
                                  std::string(kubectl_.Explained(pods.status()).message())));
    }
    poll_failed_ = true;
    return;
  }
  if (poll_failed_) listener_->OnMessage("the states of the pods are known again");
  poll_failed_ = false;
  was_polled_ = true;
  TellWhatTasksWaitFor(*pods);
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].first_poll > polls_) continue;  // its pod was created later
    const auto found = pods->find(tasks_[i].pod);
    const PodState* const state = found == pods->end() ? nullptr : &found->second;
    if (AwaitsLastState(&tasks_[i], state)) {
      next_poll_ = std::min(next_poll_, MonotonicClock::now() + kPoll);
    } else {
      HandleState(i, state);
    }
  }
}

bool KubernetesEngine::AwaitsLastState(PodTask* task, const PodState* state) const {
  const bool is_missing = task->has_pod() && (state == nullptr || state->uid != task->uid);
  if (!is_missing || !watch_.is_alive()) {
    task->missing_since.reset();
    return false;
  }
  if (!task->missing_since.has_value()) task->missing_since = MonotonicClock::now();
  return MonotonicClock::now() < *task->missing_since + kWatchDelay;
}

void KubernetesEngine::TellWhatTasksWaitFor(const std::map<std::string, PodState>& pods) {
  std::map<std::string, std::vector<std::string>> waiting;
  for (const PodTask& task : tasks_) {
    const auto found = pods.find(task.pod);
    if (task.phase != PodTask::Phase::kStarting || found == pods.end() || found->second.waits_for.empty()) continue;
    waiting[found->second.waits_for].push_back(task.name);
  }
  for (const auto& [what, names] : waiting) {
    if (told_.insert(what).second) listener_->OnMessage(StrCat(StrJoin(names, ", "), " cannot start yet: ", what));
  }
}

void KubernetesEngine::HandleEvent(const PodEvent& event) {
  for (size_t i = 0; i < tasks_.size(); ++i) {
    PodTask& task = tasks_[i];
    if (task.pod != event.pod) continue;
    if (task.has_pod() && task.uid == event.state.uid) {
      HandleState(i, &event.state);
      if (event.is_gone) HandleState(i, nullptr);
    }
    if (event.is_gone || task.phase == PodTask::Phase::kQueued) PollSoon();
  }
}

void KubernetesEngine::HandleState(size_t number, const PodState* state) {
  PodTask& task = tasks_[number];
  if (task.phase == PodTask::Phase::kQueued && state == nullptr && !soft_deletion_.IsInCall(task.pod) &&
      !hard_deletion_.IsInCall(task.pod)) {
    task.must_vanish = false;
    soft_deletion_.Remove(task.pod);
    hard_deletion_.Remove(task.pod);
  }
  if (!task.has_pod() || task.end.has_value()) return;
  if (state != nullptr && state->uid != task.uid) state = nullptr;  // another pod that has this name now
  const PodVerdict verdict = JudgePod(state, MonotonicClock::now(), &task);
  if (!verdict.start_error.empty()) return FailStart(number, absl::NotFoundError(verdict.start_error));
  if (verdict.runs && task.phase == PodTask::Phase::kStarting) {
    task.phase = PodTask::Phase::kRunning;
    listener_->OnStarted(number, 0);
  }
  if (!verdict.advice.empty()) Tell(verdict.advice);
  // Perhaps the whole job is being deleted.
  if (verdict.was_deleted) objects_.CheckLifeline();
  if (verdict.end.has_value()) return SetEnd(number, *verdict.end, verdict.has_log);
  if (task.phase == PodTask::Phase::kRunning && task.log == nullptr && task.has_output)
    StartLog(number, /*follow=*/true);
}

void KubernetesEngine::StartLog(size_t number, bool follow) {
  PodTask& task = tasks_[number];
  std::vector<std::string> arguments = {"logs", task.pod, StrCat("--container=", kTaskContainer), "--timestamps"};
  if (follow) arguments.emplace_back("--follow");
  if (!task.log_lines.since().empty()) arguments.push_back("--since-time=" + task.log_lines.since());
  task.log_follows = follow;
  task.log_lines.BeginReading();
  task.log = Call(kubectl_.Command(arguments), "", [this, number](std::string_view line) {
    tasks_[number].report_at = MonotonicClock::now() + kLogSilence;
    tasks_[number].log_lines.Add(
        line, [this, number](std::string_view text) { listener_->OnLine(number, OutputStream::kOut, text); });
  });
}

void KubernetesEngine::HandleLog(size_t number) {
  PodTask& task = tasks_[number];
  if (task.log == nullptr || !task.log->Handle()) return;
  const Status status = task.log->status();
  task.log.reset();
  const bool is_gone = absl::IsNotFound(status);
  if (!status.ok() && !is_gone) {
    Tell(StrCat("the output of ", task.name, " cannot be read: ", std::string(kubectl_.Explained(status).message())));
  }
  PollSoon();  // the task has ended, or its log has to be read again
  if (!task.end.has_value()) return;
  // What followed the log may have ended before it had all.
  const bool is_complete = !task.needs_rest || is_gone || (!task.log_follows && status.ok());
  if (is_complete) ReportEnd(number);
}

void KubernetesEngine::SetEnd(size_t number, const TaskEnd& end, bool has_log) {
  PodTask& task = tasks_[number];
  task.end = end;
  task.needs_rest = has_log;
  task.report_at = MonotonicClock::now();
  if (has_log) task.report_at += kLogSilence;
  if (!has_log && task.log != nullptr) task.report_at += kLogOfGonePod;
}

void KubernetesEngine::ReportEnd(size_t number) {
  PodTask& task = tasks_[number];
  const TaskEnd end = *task.end;
  task.end.reset();
  task.phase = PodTask::Phase::kIdle;
  EndOutput(number);
  listener_->OnEnd(number, end);
}

void KubernetesEngine::FailStart(size_t number, const Status& why) {
  PodTask& task = tasks_[number];
  task.phase = PodTask::Phase::kIdle;
  task.log.reset();
  task.has_output = false;
  listener_->OnStartFailed(number, Annotate(why, task.name));
}

}  // namespace tensorbraid
