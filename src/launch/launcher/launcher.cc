#include "launch/launcher/launcher.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "cluster/spec/tf_config.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "launch/bring/python_environment.h"
#include "launch/engines/local/local_engine.h"
#include "launch/launcher/job_report.h"
#include "launch/launcher/launched_task.h"
#include "launch/processes/blocked_signals.h"
#include "launch/processes/write_all.h"

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
constexpr int kMaxTasks = 1000;
// The exit code of a program that would fail again after a restart, because of a wrong flag or an error in the graph.
constexpr int kMistake = 2;

using Addresses = std::map<std::string, std::vector<std::string>>;  // of the tasks of each job

// The tasks of the job, in order, as pairs of a job and an index.
std::vector<std::pair<std::string, int>> TasksOf(const LaunchOptions& options) {
  std::vector<std::pair<std::string, int>> tasks;
  for (int i = 0; i < options.ps; ++i) tasks.emplace_back("ps", i);
  for (int i = 0; i < options.workers; ++i) tasks.emplace_back("worker", i);
  return tasks;
}

// Whether the program has flags for certificates, tokens and --insecure. Programs of Python get their names from the
// environment alone, because those that were written for TensorFlow know no other flags than those of the cluster.
bool KnowsAccessFlags(const LaunchOptions& options) {
  return options.style == TaskStyle::kFlags && !IsPython(options.command.front());
}

// How the program of a task is called.
ProgramCall CallOf(const LaunchedTask& task, Addresses addresses, const LaunchOptions& options) {
  ProgramCall call{.command = options.command};
  const bool knows_flags = options.style == TaskStyle::kFlags;
  std::string tf_config;  // empty unsets it: a TF_CONFIG of the launcher is for another cluster
  if (knows_flags) {
    call.command.push_back("--ps_hosts=" + StrJoin(addresses["ps"], ","));
    call.command.push_back("--worker_hosts=" + StrJoin(addresses["worker"], ","));
    call.command.push_back("--job_name=" + task.job());
    call.command.push_back(StrCat("--task_index=", task.index()));
  } else {
    tf_config = ToTfConfigJson({ClusterSpec(addresses), task.job(), task.index()});
  }
  const bool is_first = task.index() == 0 && (task.job() == "ps" || options.ps == 0);
  if (options.metrics_port > 0 && is_first) call.command.push_back(StrCat("--metrics_port=", options.metrics_port));
  // TERM=dumb keeps programs from colouring or redrawing lines, as they would on a terminal.
  call.environment = options.environment;
  if (std::none_of(call.environment.begin(), call.environment.end(), [](const auto& e) { return e.first == "TERM"; })) {
    call.environment.emplace_back("TERM", "dumb");
  }
  call.environment.emplace_back("TF_CONFIG", tf_config);
  if (options.insecure) {
    if (KnowsAccessFlags(options)) call.command.push_back("--insecure");
    call.environment.emplace_back("TENSORBRAID_INSECURE", "1");
  }
  if (!options.token_file.empty()) AddFile("token_file", options.token_file, KnowsAccessFlags(options), &call);
  return call;
}

bool HasColor(int fd) { return ::isatty(fd) != 0 && std::getenv("NO_COLOR") == nullptr; }

class Launcher final : public EngineListener {
 public:
  Launcher(const LaunchOptions& options, std::unique_ptr<Engine> engine)
      : options_(options),
        out_has_color_(options.monitor == nullptr && HasColor(options.out_fd)),
        err_has_color_(options.monitor == nullptr && HasColor(options.err_fd)),
        began_(Clock::now()),
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
    TF_RETURN_IF_ERROR(error_);
    if (!options_.log_dir.empty()) {
      Say(StrCat("logs are in ", options_.log_dir, logs_are_whole_ ? "" : ", but could not be written to the end"));
    }
    if (!result_.failure.empty()) Say(result_.failure);
    if (const Status written = Report(); !written.ok()) {
      if (result_.exit_code == 0) return written;
      Say(ToString(written));  // the exit code says how the tasks ended
    }
    return result_;
  }

 private:
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
    Fail(StrCat(task.name(), " cannot be started again: ", std::string(why.message())), 1, "");
  }

  void OnLine(size_t number, OutputStream stream, std::string_view line) override {
    LaunchedTask& task = tasks_[number];
    if (const Status logged = task.Log(line); !logged.ok()) {
      logs_are_whole_ = false;
      Say(StrCat(std::string(logged.message()), "; what ", task.name(), " writes from now on is not in its log"));
    }
    if (options_.monitor != nullptr) options_.monitor->OnTaskLine(task.name(), line);
    Write(stream, task.Named(line, stream == OutputStream::kOut ? out_has_color_ : err_has_color_));
  }

  void OnOutputEnd(size_t number) override { tasks_[number].has_output = false; }

  void OnEnd(size_t number, const TaskEnd& end) override {
    LaunchedTask& task = tasks_[number];
    if (!task.is_running && !task.awaits_place) return;  // there was no place for it, and it was not to run any more
    task.is_running = task.awaits_place = false;
    task.reports.push_back(end.report);
    if (!end.node.empty()) task.node = end.node;
    task.end = end.ok() ? "" : end.ToString();
    const auto running = std::count_if(tasks_.begin(), tasks_.end(), [](const auto& t) { return t.is_running; });
    const std::string how = end.ok() ? StrCat(task.name(), " is done") : StrCat(task.name(), " ", end.ToString());
    Say(StrCat(how, " after ", Seconds(Clock::now() - began_), ", ", running, " of ", tasks_.size(),
               " tasks still running"));
    if (end.process.signal == SIGKILL && end.lost.empty() && phase_ == Phase::kRun) {
      Say(StrCat("the launcher has not killed ", task.name(), "; the kernel kills a process when memory runs out"));
    }
    if (!end.ok() && phase_ == Phase::kRun) {
      if (const std::optional<std::string> obstacle = ObstacleToRestart(task, end); !obstacle.has_value()) {
        const milliseconds delay = task.ScheduleRestart(options_.restart);
        Say(StrCat(task.name(), " is started again in ", Seconds(delay), RestartCount(task)));
      } else {
        Fail(how, end.ShellCode(), *obstacle);
      }
    }
    if (phase_ == Phase::kGrace && running > 0 && !AnyWorkerUnfinished() && task.job() == "worker") {
      SetPhase(Phase::kGrace, std::min(options_.grace, kGraceWithoutWorkers));
    }
  }

  void OnFailure(const Status& why) override { error_.Update(why); }  // keeps the first
  void OnMessage(const std::string& text) override { Say(text); }
  void OnStopRequest(const std::string& why) override {
    if (phase_ == Phase::kStop) return;
    engine_stops_ = true;
    if (result_.failure.empty()) result_ = {StrCat("stopped by ", why), 128 + SIGTERM};
    Say(StrCat(why, ": the tasks have ", Seconds(options_.stop_grace), " to save and leave"));
    Stop(SIGTERM, options_.stop_grace);
  }

  void StartAgain(size_t number) {
    tasks_[number].restart_at.reset();
    tasks_[number].awaits_place = true;
    if (engine_->PlaceAgain(number)) Start(number);
  }
  // Starts a task, for the first time or again.
  void Start(size_t number) {
    LaunchedTask& task = tasks_[number];
    ProgramCall call = CallOf(task, jobs_, options_);
    task.OnStart();
    engine_->Start(number, call, KnowsAccessFlags(options_));
  }

  bool AnyUnfinished() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return task.is_unfinished(); });
  }
  bool AnyOutput() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return task.has_output; });
  }
  bool AnyWorkerUnfinished() const {
    return std::any_of(tasks_.begin(), tasks_.end(),
                       [](const auto& t) { return t.job() == "worker" && t.is_unfinished(); });
  }

  // Waits for an event and handles it.
  void Step() {
    std::vector<pollfd> events = {{signals_.fd().get(), POLLIN, 0}};
    engine_->AddEvents(&events);
    if (options_.monitor != nullptr) options_.monitor->AddEvents(&events);
    int timeout_ms = -1;
    if (const auto wake = NextDeadline(); wake.has_value()) {
      const auto left = std::chrono::ceil<milliseconds>(*wake - Clock::now());
      timeout_ms = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3600 * 1000));
    }
    if (::poll(events.data(), events.size(), timeout_ms) < 0) return;  // EINTR

    signals_.Read([this](int signal) { OnSignal(signal); });
    if (options_.monitor != nullptr) options_.monitor->Handle([this] { OnSignal(SIGTERM); });
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

  // Returns why a task that failed is not started again. std::nullopt if it is started again, and "" if the user asked
  // for no restarts.
  std::optional<std::string> ObstacleToRestart(const LaunchedTask& task, const TaskEnd& end) const {
    const int max = options_.restart.max_restarts;
    if (max == 0) return "";
    if (end.lost_for_good) {
      return "its machine does not come back to this job, and there is no other one (--spare_nodes), so it is not "
             "started again";
    }
    if (end.lost.empty() && end.process.signal == 0 && end.process.exit_code == kMistake) {
      return "exit code 2 means an error in its arguments or its program, so it is not started again";
    }
    if (task.job() == "ps" && !AnyWorkerUnfinished()) return "no worker is left, so it is not started again";
    if (max > 0 && task.restarts() >= max) {
      return StrCat("it has been started again ", max, max == 1 ? " time" : " times", ", which is the limit");
    }
    return std::nullopt;
  }
  std::string RestartCount(const LaunchedTask& task) const {
    const int max = options_.restart.max_restarts;
    return max < 0 ? "" : StrCat(" (restart ", task.restarts(), " of ", max, ")");
  }

  // A task has failed for good. The others may continue for options_.grace.
  void Fail(const std::string& how, int exit_code, const std::string& why) {
    result_.failure = how;
    result_.exit_code = exit_code;
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
                      .end = task.end,
                      .reports = task.reports,
                      .restarts = task.restarts()});
    }
    const JobReport report = SummarizeJob(runs, std::chrono::duration<double>(Clock::now() - began_).count());
    if (report.any()) {
      for (const std::string& line : StrSplit(ToText(report), '\n')) {
        if (!line.empty()) Write(OutputStream::kErr, line + "\n");
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

  void OnSignal(int signal) {
    // The engine stops the launcher, too, if that is a part of the job: in a batch script.
    if (phase_ == Phase::kStop && signal == SIGTERM && std::exchange(engine_stops_, false)) return;
    if (phase_ == Phase::kStop) {  // this is the second signal
      deadline_ = Clock::now();
      return;
    }
    if (result_.failure.empty()) result_ = {StrCat("stopped by SIG", ::sigabbrev_np(signal)), 128 + signal};
    const milliseconds kill_after = signal == SIGINT ? kKillAfter : options_.stop_grace;
    if (phase_ != Phase::kPlace) {
      Say(StrCat("SIG", ::sigabbrev_np(signal), ": the tasks have ", Seconds(kill_after),
                 " to save and leave; a second signal ends them at once"));
    }
    // Programs save at SIGTERM and SIGINT. SIGHUP, when the terminal or the connection to it is closed, would end them.
    Stop(signal == SIGHUP ? SIGTERM : signal, kill_after);
  }

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

  void Say(const std::string& text) { Write(OutputStream::kErr, StrCat("launch: ", text, "\n")); }
  // Passes a line on to the user.
  void Write(OutputStream stream, const std::string& line) {
    if (options_.monitor != nullptr) return options_.monitor->OnOutput(stream, line);
    WriteAll(stream == OutputStream::kOut ? options_.out_fd : options_.err_fd, line);
  }

  const LaunchOptions& options_;
  const bool out_has_color_;
  const bool err_has_color_;
  const Clock::time_point began_;
  const BlockedSignals signals_;
  std::deque<LaunchedTask> tasks_;
  std::vector<TaskPlace> places_;  // of the tasks
  Addresses jobs_;
  Phase phase_ = Phase::kPlace;
  std::optional<Clock::time_point> deadline_;
  Clock::time_point remind_at_;  // in Phase::kPlace
  bool engine_stops_ = false;    // the engine has asked for the end, and the launcher has got no SIGTERM since
  bool logs_are_whole_ = true;
  LaunchResult result_;
  Status error_;  // of the launch itself
  std::unique_ptr<Engine> engine_;
};

Status Check(const LaunchOptions& options) {
  if (options.ps < 0 || options.workers < 1 || options.ps + options.workers > kMaxTasks) {
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

StatusOr<std::pair<std::string, std::string>> ParseEnvironment(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const bool is_name = std::all_of(
      name.begin(), name.end(), [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; });
  if (name.empty() || !is_name || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) {
    return InvalidArgument("'", name, "' is no name of a variable; expected NAME=VALUE or NAME");
  }
  static constexpr std::array<std::string_view, 8> kOurs = {
      "TF_CONFIG",          "TENSORBRAID_INSECURE", "TENSORBRAID_MOVES_FILE", "TENSORBRAID_REPORT_FILE",
      "TENSORBRAID_TLS_CA", "TENSORBRAID_TLS_CERT", "TENSORBRAID_TLS_KEY",    "TENSORBRAID_TOKEN_FILE"};
  if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end()) {
    return InvalidArgument("'", name, "' is set by the launcher itself");
  }
  if (equals != std::string::npos) return std::pair(name, text.substr(equals + 1));
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr) return InvalidArgument("'", name, "' is not set here; give it a value: ", name, "=VALUE");
  return std::pair(name, std::string(value));
}

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
    const LaunchedTask task(job, index, 0);
    text += engine.DescribeStart(task.name(), CallOf(task, addresses, options), KnowsAccessFlags(options));
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
