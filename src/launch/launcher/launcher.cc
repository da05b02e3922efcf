#include "launch/launcher/launcher.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/text/strings.h"
#include "core/threads/stop.h"
#include "io/file.h"
#include "launch/engines/local/local_engine.h"
#include "launch/launcher/job_names.h"
#include "launch/launcher/job_output.h"
#include "launch/launcher/job_report.h"
#include "launch/launcher/launched_task.h"
#include "launch/launcher/task_call.h"
#include "launch/processes/blocked_signals.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How long tasks may go on after Ctrl-C before they are killed. Everything ends within 2 s, so half a second is left to
// kill and reap them. SIGTERM gives tasks more time.
constexpr milliseconds kKillAfter{1500};
// How long to wait for output after all tasks have ended: a process that left its process group may keep a pipe open.
constexpr milliseconds kDrainAfterEnd{200};
// The grace for parameter servers when a task has failed and no worker is left. They then end by themselves soon, or
// never.
constexpr milliseconds kGraceWithoutWorkers{2000};
// How long the launcher, when it was asked to end, waits for a reader that does not read its output.
constexpr milliseconds kReaderPatience{1000};
constexpr int kMaxTasks = 1000;

class Launcher final : public EngineListener {
 public:
  Launcher(const LaunchOptions& options, std::unique_ptr<Engine> engine)
      : options_(options),
        began_(Clock::now()),
        output_(options.out_fd, options.err_fd, options.monitor),
        engine_(std::move(engine)) {}

  StatusOr<LaunchResult> Run() {
    TF_RETURN_IF_ERROR(signals_.status());
    for (const auto& [job, index] : TasksOf(options_)) {
      LaunchedTask& task = tasks_.emplace_back(job, index, tasks_.size());
      if (!options_.log_dir.empty()) TF_RETURN_IF_ERROR(task.OpenLog(options_.log_dir));
    }
    std::vector<std::string> names;
    for (const LaunchedTask& task : tasks_) names.push_back(task.name());
    remind_at_ = began_ + options_.remind_after;
    engine_->Place(names, this);
    while (error_.ok() && (phase_ == Phase::kPlace || AnyUnfinished() || AnyOutput())) Step();
    engine_.reset();  // ends what is left
    if (error_.ok()) Conclude();
    output_.Finish(signals_.fd(), asked_at_.has_value() ? std::optional(kReaderPatience) : std::nullopt);
    TF_RETURN_IF_ERROR(error_);
    if (output_.is_closed() && result_.failure.empty()) {
      result_.failure = "the reader of its output ended before it";
      result_.exit_code = 128 + SIGPIPE;
    }
    return result_;
  }

 private:
  // Says how the job ended.
  void Conclude() {
    if (!options_.log_dir.empty()) {
      Say(StrCat("logs are in ", options_.log_dir, logs_are_whole_ ? "" : ", but could not be written to the end"));
    }
    if (!result_.failure.empty()) Say(result_.failure);
    if (const Status written = Report(); !written.ok()) {
      if (result_.exit_code == 0) {
        error_ = written;
      } else {
        Say(ToString(written));  // the exit code says how the tasks ended
      }
    }
  }

  // The reports of the engine.

  void OnPlaced(std::vector<TaskPlace> places) override {
    if (phase_ != Phase::kPlace) return;  // a signal came first
    places_ = std::move(places);
    for (size_t i = 0; i < tasks_.size(); ++i) jobs_[tasks_[i].job()].push_back(places_[i].address);
    phase_ = Phase::kRun;
    for (size_t i = 0; i < tasks_.size() && error_.ok(); ++i) Start(i);
  }

  void OnPlacedAgain(size_t number, const TaskPlace& place) override {
    LaunchedTask& task = tasks_[number];
    places_[number] = place;
    jobs_[task.job()][static_cast<size_t>(task.index())] = place.address;
    if (task.awaits_place) Start(number);
  }

  void OnStarted(size_t number, pid_t pid) override {
    const TaskPlace& place = places_[number];
    const std::string where = place.node.empty() ? "" : StrCat(" on ", place.node);
    const std::string process = pid == 0 ? "" : StrCat(", pid ", pid);
    Say(StrCat(tasks_[number].name(), " runs on ", place.address, process, where));
    if (std::exchange(tasks_[number].has_started, true) || options_.monitor == nullptr) return;
    if (std::all_of(tasks_.begin(), tasks_.end(), [](const auto& t) { return t.has_started; })) {
      options_.monitor->OnAllStarted();
    }
  }

  void OnStartFailed(size_t number, const Status& why) override {
    LaunchedTask& task = tasks_[number];
    if (task.restarts() == 0) {
      // A program that does not exist or may not be run is a mistake in the command line, which ExitCode tells apart.
      const bool is_mistake = absl::IsNotFound(why) || absl::IsPermissionDenied(why);
      error_ = is_mistake ? InvalidArgument(std::string(why.message())) : why;
      return;
    }
    task.has_output = false;
    if (absl::IsUnavailable(why)) return OnEnd(number, {.process = {}, .lost = std::string(why.message())});
    task.is_running = false;
    Fail(StrCat(task.name(), " cannot be started again: ", std::string(why.message())), {.process = {.exit_code = 1}},
         "");
  }

  void OnLine(size_t number, OutputStream stream, std::string_view line) override {
    LaunchedTask& task = tasks_[number];
    CheckLog(task, task.Log(line));
    if (options_.monitor != nullptr) options_.monitor->OnTaskLine(task.name(), line);
    output_.Write(stream, task.Named(line, output_.has_color(stream)));
  }

  void OnOutputEnd(size_t number) override { tasks_[number].has_output = false; }

  void OnEnd(size_t number, const TaskEnd& end) override {
    LaunchedTask& task = tasks_[number];
    if (!task.is_running && !task.awaits_place) return;  // there was no place for it, and it was not to run any more
    task.is_running = task.awaits_place = false;
    task.reports.push_back(end.report);
    if (!end.node.empty()) task.node = end.node;
    task.latest_end = end;
    const auto running = std::count_if(tasks_.begin(), tasks_.end(), [](const auto& t) { return t.is_running; });
    const std::string how = end.ok() ? StrCat(task.name(), " is done") : StrCat(task.name(), " ", end.ToString());
    Say(StrCat(how, " after ", Seconds(Clock::now() - began_), ", ", running, " of ", tasks_.size(),
               " tasks still running"));
    if (end.process.signal == SIGKILL && end.lost.empty() && phase_ == Phase::kRun) {
      Say(StrCat("the launcher has not killed ", task.name(), "; the kernel kills a process when memory runs out"));
    }
    if (phase_ == Phase::kRun) {
      if (!end.ok()) {
        StartAgainLater(task);
      } else if (task.job() == "ps" && ended_server_.empty()) {
        ended_server_ = task.name();
        GiveUpRestarts(SecondsSinceAWorkerJoined(end.report));
      }
    }
    if (phase_ == Phase::kGrace && running > 0 && !AnyWorkerUnfinished() && Trains(task.job())) {
      SetPhase(Phase::kGrace, std::min(options_.grace, kGraceWithoutWorkers));
    }
  }

  void OnFailure(const Status& why) override { error_.Update(why); }  // keeps the first
  void OnMessage(const std::string& text) override { Say(text); }
  void OnStopRequest(const std::string& why) override {
    if (phase_ == Phase::kStop) return;
    engine_stops_ = true;
    Say(StrCat(why, ": the tasks have ", Seconds(options_.stop_grace), " to save and leave"));
    StopOnRequest(StrCat("stopped by ", why), 128 + SIGTERM, SIGTERM, options_.stop_grace);
  }

  void StartAgain(size_t number) {
    tasks_[number].restart_at.reset();
    tasks_[number].awaits_place = true;
    if (engine_->PlaceAgain(number)) Start(number);
  }
  // Starts a task, for the first time or again.
  void Start(size_t number) {
    LaunchedTask& task = tasks_[number];
    ProgramCall call = CallOf(task.job(), task.index(), jobs_, options_);
    CheckLog(task, task.OnStart());
    engine_->Start(number, call, KnowsAccessFlags(options_));
  }

  // A task has failed, and the job goes on if the policy allows it.
  void StartAgainLater(LaunchedTask& task) {
    const auto obstacle = ObstacleToRestart(options_.restart, {.job = task.job(),
                                                               .end = task.latest_end,
                                                               .restarts = task.restarts(),
                                                               .any_worker_unfinished = AnyWorkerUnfinished(),
                                                               .ended_server = ended_server_});
    if (obstacle.has_value())
      return Fail(StrCat(task.name(), " ", task.latest_end.ToString()), task.latest_end, *obstacle);
    const milliseconds delay = task.ScheduleRestart(options_.restart);
    Say(StrCat(task.name(), " is started again in ", Seconds(delay), RestartCount(task)));
  }
  // A parameter server has ended with 0. Tasks of the cluster that wait for a restart have failed for good. So have
  // those that were started again and had not reached the server yet, since no worker has joined it meanwhile: they
  // would wait for ever.
  void GiveUpRestarts(std::optional<double> seconds_since_a_worker_joined) {
    for (const LaunchedTask& task : tasks_) {
      const bool is_late = task.is_running && task.restarts() > 0 && seconds_since_a_worker_joined.has_value() &&
                           std::chrono::duration<double>(task.age()).count() < *seconds_since_a_worker_joined;
      if (!IsInCluster(task.job()) || (!task.restart_at.has_value() && !task.awaits_place && !is_late)) continue;
      return Fail(StrCat(task.name(), " ", task.latest_end.ToString()), task.latest_end, JobIsOver(ended_server_));
    }
  }

  bool AnyUnfinished() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return task.is_unfinished(); });
  }
  bool AnyOutput() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return task.has_output; });
  }
  bool AnyWorkerUnfinished() const {
    return std::any_of(tasks_.begin(), tasks_.end(),
                       [](const auto& t) { return Trains(t.job()) && t.is_unfinished(); });
  }

  // Waits for an event and handles it.
  void Step() {
    std::vector<pollfd> events = {{signals_.fd().get(), POLLIN, 0}};
    engine_->AddEvents(&events);
    if (options_.monitor != nullptr) options_.monitor->AddEvents(&events);
    output_.AddEvents(&events);
    int timeout_ms = -1;
    if (const auto wake = NextDeadline(); wake.has_value()) {
      const auto left = std::chrono::ceil<milliseconds>(*wake - Clock::now());
      timeout_ms = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3600 * 1000));
    }
    if (::poll(events.data(), events.size(), timeout_ms) < 0) return;  // EINTR

    signals_.Read([this](int signal) { OnSignal(signal); });
    if (options_.monitor != nullptr) options_.monitor->Handle([this] { OnStopCommand(); });
    while (const auto closed = output_.TakeClosed()) OnClosedOutput(*closed);
    engine_->Handle();
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const auto& at = tasks_[i].restart_at;
      if (at.has_value() && Clock::now() >= *at) StartAgain(i);
    }
    if (phase_ == Phase::kPlace && Clock::now() >= remind_at_) {
      const Clock::duration waited = Clock::now() - began_;
      Say(StrCat("still waits for machines, ", Seconds(waited), " after the start"));
      remind_at_ = Clock::now() + waited;
    }
    if (deadline_.has_value() && Clock::now() >= *deadline_) OnDeadline();
    if (phase_ != Phase::kPlace && !AnyUnfinished() && AnyOutput() && phase_ != Phase::kDrain) {
      SetPhase(Phase::kDrain, kDrainAfterEnd);
    }
  }

  // The earliest of the phase's deadline, the next reminder and the restarts.
  std::optional<Clock::time_point> NextDeadline() const {
    std::optional<Clock::time_point> next = deadline_;
    if (phase_ == Phase::kPlace && error_.ok()) next = remind_at_;  // this phase has no deadline
    for (const LaunchedTask& task : tasks_) {
      const auto& at = task.restart_at;
      if (at.has_value() && (!next.has_value() || *at < *next)) next = at;
    }
    return next;
  }

  std::string RestartCount(const LaunchedTask& task) const {
    const int max = options_.restart.max_restarts;
    return max < 0 ? "" : StrCat(" (restart ", task.restarts(), " of ", max, ")");
  }

  // A task has failed for good. The others may continue for options_.grace.
  void Fail(const std::string& how, const TaskEnd& end, const std::string& why) {
    result_.failure = how;
    result_.exit_code = end.ShellCode();
    result_.machine_lost = !end.lost.empty();
    if (!why.empty()) Say(StrCat(how, ": ", why));
    for (LaunchedTask& task : tasks_) task.GiveUpRestart();
    if (std::any_of(tasks_.begin(), tasks_.end(), [](const auto& t) { return t.is_running; })) {
      const milliseconds grace =
          AnyWorkerUnfinished() ? options_.grace : std::min(options_.grace, kGraceWithoutWorkers);
      Say(StrCat("the other tasks have ", grace.count() / 1000.0, " s to end by themselves"));
      SetPhase(Phase::kGrace, grace);
    }
  }

  // Prints what the tasks did, and writes it to the file.
  Status Report() {
    std::vector<TaskRuns> runs;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const LaunchedTask& task = tasks_[i];
      runs.push_back({.name = task.name(),
                      .machine = !task.node.empty() || i >= places_.size() ? task.node : places_[i].node,
                      .end = task.latest_end.ok() ? "" : task.latest_end.ToString(),
                      .reports = task.reports,
                      .restarts = task.restarts()});
    }
    const JobReport report = SummarizeJob(runs, std::chrono::duration<double>(Clock::now() - began_).count());
    if (report.any()) {
      for (const std::string& line : StrSplit(ToText(report), '\n')) {
        if (!line.empty()) output_.Write(OutputStream::kErr, line + "\n");
      }
    }
    result_.report = ToJson(report, result_.failure, result_.exit_code);
    if (options_.report_file.empty()) return OkStatus();
    return Annotate(WriteFile(options_.report_file, result_.report), "--report");
  }

  static std::string Seconds(Clock::duration duration) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>(duration).count());
    return text;
  }

  // One event can cause several signals: GNU timeout signals a process and its group, and a terminal that is closed
  // signals the shell, which signals its jobs.
  bool IsSameRequest() const { return asked_at_.has_value() && Clock::now() - *asked_at_ < kSameStopRequest; }
  void OnSignal(int signal) {
    if (phase_ == Phase::kStop) {
      // The engine stops the launcher, too, if that is a part of the job: in a batch script.
      if (signal == SIGTERM && std::exchange(engine_stops_, false)) return;
      if (!IsSameRequest()) KillNow();
      if (!asked_at_.has_value()) asked_at_ = Clock::now();  // the job was ending by itself
      return;
    }
    const milliseconds kill_after = signal == SIGINT ? kKillAfter : options_.stop_grace;
    if (phase_ != Phase::kPlace) {
      Say(StrCat("SIG", ::sigabbrev_np(signal), ": the tasks have ", Seconds(kill_after),
                 " to save and leave; another signal after 1 s ends them at once"));
    }
    // Programs save at SIGTERM and SIGINT. SIGHUP, when the terminal or the connection to it is closed, would end them.
    StopOnRequest(StrCat("stopped by SIG", ::sigabbrev_np(signal)), 128 + signal, signal == SIGHUP ? SIGTERM : signal,
                  kill_after);
  }
  // `tensorbraid stop` asks for the end. Each time is a request of its own.
  void OnStopCommand() {
    if (phase_ == Phase::kStop) return KillNow();
    OnSignal(SIGTERM);
  }
  void OnClosedOutput(const std::string& stream) {
    if (phase_ == Phase::kStop || phase_ == Phase::kDrain) return;
    const std::string what = StrCat("the reader of ", stream, " has ended");
    Say(StrCat(what, ": the tasks have ", Seconds(options_.stop_grace), " to save and leave"));
    StopOnRequest(what, 128 + SIGPIPE, SIGTERM, options_.stop_grace);
  }
  // The job ends because the user or the engine wants it, and not because of its tasks.
  void StopOnRequest(const std::string& why, int exit_code, int signal, milliseconds kill_after) {
    if (result_.failure.empty()) result_ = {.failure = why, .exit_code = exit_code};
    asked_at_ = Clock::now();
    Stop(signal, kill_after);
  }
  void KillNow() { deadline_ = Clock::now(); }

  void OnDeadline() {
    deadline_.reset();
    if (phase_ == Phase::kGrace) {
      Say("stopping the other tasks");
      Stop(SIGTERM, kKillAfter);
    } else if (phase_ == Phase::kStop) {
      for (size_t i = 0; i < tasks_.size(); ++i) engine_->Signal(i, SIGKILL);
    } else {
      for (size_t i = 0; i < tasks_.size(); ++i) engine_->CloseOutput(i);
    }
  }

  void Stop(int signal, milliseconds kill_after) {
    for (size_t i = 0; i < tasks_.size(); ++i) {
      tasks_[i].GiveUpRestart();
      if (tasks_[i].is_running) engine_->Signal(i, signal);
    }
    SetPhase(Phase::kStop, kill_after);
  }

  // kPlace -> kRun (the tasks have places) -> kGrace (a task has failed) -> kStop (the tasks have got a signal, and are
  // killed at the deadline) -> kDrain (all tasks have ended, and their output is read until the deadline). Phases may
  // be skipped.
  enum class Phase { kPlace, kRun, kGrace, kStop, kDrain };
  void SetPhase(Phase phase, milliseconds limit) {
    phase_ = phase;
    deadline_ = Clock::now() + limit;
  }

  void Say(const std::string& text) { output_.Say(text); }
  // `logged` is the result of writing to the task's log.
  void CheckLog(const LaunchedTask& task, const Status& logged) {
    if (logged.ok()) return;
    logs_are_whole_ = false;
    Say(StrCat(std::string(logged.message()), "; what ", task.name(), " writes from now on is not in its log"));
  }

  const LaunchOptions& options_;
  const Clock::time_point began_;
  const BlockedSignals signals_;
  JobOutput output_;  // after `signals_`, whose signals its threads must not get
  std::deque<LaunchedTask> tasks_;
  std::vector<TaskPlace> places_;  // of the tasks
  Addresses jobs_;
  Phase phase_ = Phase::kPlace;
  std::optional<Clock::time_point> deadline_;
  Clock::time_point remind_at_;                // in Phase::kPlace
  std::string ended_server_;                   // the first parameter server that has ended with 0
  std::optional<Clock::time_point> asked_at_;  // when the user or the engine asked for the end first
  bool engine_stops_ = false;  // the engine has asked for the end, and the launcher has got no SIGTERM since
  bool logs_are_whole_ = true;
  LaunchResult result_;
  Status error_;  // of the launch itself
  std::unique_ptr<Engine> engine_;
};

Status Check(const LaunchOptions& options) {
  if (options.evaluator && options.style != TaskStyle::kTfConfig) {
    return InvalidArgument("--evaluator needs --env-style=tf_config, because flags cannot describe an evaluator");
  }
  if (options.ps < 0 || options.workers < 1 || options.ps + options.workers + options.evaluator > kMaxTasks) {
    return InvalidArgument("--ps=", options.ps, " --workers=", options.workers,
                           ": there must be at least one worker and at most ", kMaxTasks, " tasks");
  }
  if (options.command.empty()) return InvalidArgument("no program to run; put it after '--'");
  std::error_code error;
  if (std::filesystem::is_directory(options.report_file, error)) {
    return InvalidArgument("--report=", options.report_file, " is a directory; give the name of a file");
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::string> DescribeLaunch(const LaunchOptions& options, const Engine& engine) {
  TF_RETURN_IF_ERROR(Check(options));
  const auto tasks = TasksOf(options);
  std::vector<std::string> names;
  for (const auto& [job, index] : tasks) names.push_back(StrCat(job, "/", index));
  const std::vector<std::string> known = engine.KnownAddresses(names);
  Addresses addresses;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const auto& [job, index] = tasks[i];
    addresses[job].push_back(known.empty() ? StrCat(job, "-", index, ":PORT") : known[i]);
  }
  TF_ASSIGN_OR_RETURN(std::string text, engine.Describe(names));
  for (const auto& [job, index] : tasks) {
    if (index > 0) continue;
    text += engine.DescribeStart(StrCat(job, "/", index), CallOf(job, index, addresses, options),
                                 KnowsAccessFlags(options));
  }
  return text;
}

StatusOr<LaunchResult> Launch(const LaunchOptions& options) { return Launch(options, std::make_unique<LocalEngine>()); }

StatusOr<LaunchResult> Launch(const LaunchOptions& options, std::unique_ptr<Engine> engine) {
  TF_RETURN_IF_ERROR(Check(options));
  if (!options.log_dir.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.log_dir, error);
    if (error)
      return absl::ErrnoToStatus(error.value(), StrCat("cannot create the log directory '", options.log_dir, "'"));
  }
  return Launcher(options, std::move(engine)).Run();
}

}  // namespace tensorbraid
