#include "cli/local_cluster.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <optional>
#include <string_view>

#include "cli/child_process.h"
#include "cli/line_splitter.h"
#include "cluster/spec/tf_config.h"
#include "core/system/held_port.h"
#include "core/text/strings.h"

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

void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the reader has gone; the tasks continue
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

// Blocks SIGINT, SIGTERM and SIGHUP and ignores SIGPIPE while an object of this class exists.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&mask_);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&mask_, signal);
    ::pthread_sigmask(SIG_BLOCK, &mask_, &old_mask_);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &old_pipe_);
  }
  ~BlockedSignals() {
    ::sigaction(SIGPIPE, &old_pipe_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  const sigset_t& mask() const { return mask_; }

 private:
  sigset_t mask_;
  sigset_t old_mask_;
  struct sigaction old_pipe_ {};
};

// One task: its process and its output.
class Task {
 public:
  Task(std::string job, int index, const LaunchOptions& options, size_t number)
      : job_(std::move(job)),
        index_(index),
        out_lines_([this, fd = options.out_fd](std::string_view line) { Print(fd, line); }),
        err_lines_([this, fd = options.err_fd](std::string_view line) { Print(fd, line); }) {
    static constexpr std::array<int, 6> kColors = {36, 33, 32, 35, 34, 31};
    color_ = StrCat("\033[", kColors[number % kColors.size()], "m");
  }
  Task(const Task&) = delete;

  std::string name() const { return StrCat(job_, "/", index_); }
  const std::string& job() const { return job_; }
  int index() const { return index_; }
  std::optional<ChildProcess>& process() { return process_; }
  bool is_running() const { return process_.has_value() && process_->end_event().is_open(); }

  // Starts the task's program, for the first time or again.
  Status Start(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& env) {
    if (process_.has_value()) CloseOutput();
    TF_ASSIGN_OR_RETURN(process_, ChildProcess::Start(command, env, ChildProcess::Stdout::kTerminal));
    started_ = Clock::now();
    restart_at_.reset();
    return OkStatus();
  }
  // Sets the time at which the task is started again, and returns the delay until then. REQUIRES: the policy allows a
  // restart.
  milliseconds ScheduleRestart(const RestartPolicy& policy) {
    if (Clock::now() - started_ >= policy.max_delay) delay_ = milliseconds(0);
    delay_ = delay_.count() == 0 ? policy.first_delay : std::min(2 * delay_, policy.max_delay);
    ++restarts_;
    restart_at_ = Clock::now() + delay_;
    return delay_;
  }
  int restarts() const { return restarts_; }
  // The time at which the task is started again, if it waits for a restart.
  std::optional<Clock::time_point>& restart_at() { return restart_at_; }
  bool is_unfinished() const { return is_running() || restart_at_.has_value(); }

  Status OpenLog(const std::string& directory) {
    const std::string path = StrCat(directory, "/", job_, "-", index_, ".log");
    log_ = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    return log_.is_open() ? OkStatus() : absl::ErrnoToStatus(errno, StrCat("cannot write '", path, "'"));
  }

  // Passes on the output that is available now; closes it at its end.
  void ReadOutput() {
    Read(process_->out(), out_lines_);
    Read(process_->err(), err_lines_);
  }
  // Stops waiting for output.
  void CloseOutput() {
    process_->out().Close();
    process_->err().Close();
    out_lines_.Finish();
    err_lines_.Finish();
  }
  bool has_output() { return process_->out().is_open() || process_->err().is_open(); }

 private:
  static void Read(Fd& fd, LineSplitter& lines) {
    std::array<char, 16384> bytes;
    // Bounded, so that a task that writes endlessly does not keep the loop from handling signals.
    for (int i = 0; i < 16 && fd.is_open(); ++i) {
      const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
      if (got > 0) {
        lines.Add({bytes.data(), static_cast<size_t>(got)});
      } else if (got < 0 && errno == EINTR) {
        continue;
      } else if (got < 0 && errno == EAGAIN) {
        return;
      } else {
        fd.Close();
        lines.Finish();
      }
    }
  }

  void Print(int fd, std::string_view line) {
    if (log_.is_open()) WriteAll(log_.get(), StrCat(line, "\n"));
    std::string prefix;
    if (!line.starts_with('{')) {
      const bool color = ::isatty(fd) != 0 && std::getenv("NO_COLOR") == nullptr;
      prefix = color ? StrCat(color_, "[", name(), "]\033[0m ") : StrCat("[", name(), "] ");
    }
    WriteAll(fd, StrCat(prefix, line, "\n"));
  }

  const std::string job_;
  const int index_;
  std::string color_;
  Fd log_;
  LineSplitter out_lines_, err_lines_;
  std::optional<ChildProcess> process_;
  Clock::time_point started_;
  int restarts_ = 0;
  milliseconds delay_{0};  // before the latest restart
  std::optional<Clock::time_point> restart_at_;
};

class Launcher {
 public:
  explicit Launcher(const LaunchOptions& options) : options_(options), began_(Clock::now()) {}

  StatusOr<LaunchResult> Run() {
    signals_ = Fd(::signalfd(-1, &blocked_.mask(), SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_.is_open()) return absl::ErrnoToStatus(errno, "cannot watch signals");
    TF_RETURN_IF_ERROR(Start());
    while (AnyUnfinished() || AnyOutput()) Step();
    if (!options_.log_dir.empty()) Say(StrCat("logs are in ", options_.log_dir));
    if (!result_.failure.empty()) Say(result_.failure);
    return result_;
  }

 private:
  Status Start() {
    for (const auto& [job, count] : {std::pair<std::string, int>("ps", options_.ps), {"worker", options_.workers}}) {
      for (int i = 0; i < count; ++i) {
        TF_ASSIGN_OR_RETURN(HeldPort port, HeldPort::Take());
        jobs_[job].push_back(StrCat("127.0.0.1:", port.port()));
        ports_.push_back(std::move(port));
        Task& task = tasks_.emplace_back(job, i, options_, tasks_.size());
        if (!options_.log_dir.empty()) TF_RETURN_IF_ERROR(task.OpenLog(options_.log_dir));
      }
    }
    for (Task& task : tasks_) TF_RETURN_IF_ERROR(StartTask(task));
    return OkStatus();
  }

  Status StartTask(Task& task) {
    const ClusterSpec cluster(jobs_);
    std::vector<std::string> command = options_.command;
    std::string tf_config;  // empty unsets it: a TF_CONFIG of the launcher is for another cluster
    if (options_.style == TaskStyle::kTfConfig) {
      tf_config = ToTfConfigJson({cluster, task.job(), task.index()});
    } else {
      command.push_back("--ps_hosts=" + StrJoin(jobs_["ps"], ","));
      command.push_back("--worker_hosts=" + StrJoin(jobs_["worker"], ","));
      command.push_back("--job_name=" + task.job());
      command.push_back(StrCat("--task_index=", task.index()));
    }
    if (!options_.token_file.empty()) command.push_back("--token_file=" + options_.token_file);
    if (options_.metrics_port > 0 && &task == &tasks_.front()) {
      command.push_back(StrCat("--metrics_port=", options_.metrics_port));
    }
    // TERM=dumb keeps programs from colouring or redrawing lines, as they would on a terminal.
    TF_RETURN_IF_ERROR(task.Start(command, {{"TERM", "dumb"}, {"TF_CONFIG", tf_config}}));
    Say(StrCat(task.name(), " runs on ", *cluster.task_address(task.job(), task.index()), ", pid ",
               task.process()->pid()));
    return OkStatus();
  }

  bool AnyUnfinished() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return task.is_unfinished(); });
  }
  bool AnyOutput() {
    return std::any_of(tasks_.begin(), tasks_.end(), [](Task& task) { return task.has_output(); });
  }

  // Waits for an event and handles it.
  void Step() {
    std::vector<pollfd> events = {{signals_.get(), POLLIN, 0}};
    for (Task& task : tasks_) {  // poll ignores closed descriptors, whose number is -1
      for (const Fd* fd : {&task.process()->end_event(), &std::as_const(task.process()->out()),
                           &std::as_const(task.process()->err())}) {
        events.push_back({fd->get(), POLLIN, 0});
      }
    }
    int timeout_ms = -1;
    if (const auto wake = NextDeadline(); wake.has_value()) {
      const auto left = std::chrono::ceil<milliseconds>(*wake - Clock::now());
      timeout_ms = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3600 * 1000));
    }
    if (::poll(events.data(), events.size(), timeout_ms) < 0) return;  // EINTR

    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) OnSignal(static_cast<int>(info.ssi_signo));
    for (size_t i = 0; i < tasks_.size(); ++i) {
      tasks_[i].ReadOutput();
      if (events[1 + 3 * i].revents != 0) OnEnd(tasks_[i]);
    }
    for (Task& task : tasks_) {
      if (task.restart_at().has_value() && Clock::now() >= *task.restart_at()) Restart(task);
    }
    if (deadline_.has_value() && Clock::now() >= *deadline_) OnDeadline();
    if (!AnyUnfinished() && AnyOutput() && phase_ != Phase::kDrain) SetPhase(Phase::kDrain, kDrainAfterEnd);
  }

  // The earliest of the phase's deadline and the restarts.
  std::optional<Clock::time_point> NextDeadline() {
    std::optional<Clock::time_point> next = deadline_;
    for (Task& task : tasks_) {
      const auto& at = task.restart_at();
      if (at.has_value() && (!next.has_value() || *at < *next)) next = at;
    }
    return next;
  }

  void OnEnd(Task& task) {
    const ProcessEnd end = task.process()->Reap();
    task.ReadOutput();
    const auto running = std::count_if(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.is_running(); });
    const std::string how = end.ok() ? StrCat(task.name(), " is done") : StrCat(task.name(), " ", end.ToString());
    Say(StrCat(how, " after ", Seconds(Clock::now() - began_), ", ", running, " of ", tasks_.size(),
               " tasks still running"));
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

  // Returns why a task that failed is not started again. std::nullopt if it is started again, and "" if the user asked
  // for no restarts.
  std::optional<std::string> ObstacleToRestart(const Task& task, const ProcessEnd& end) const {
    const int max = options_.restart.max_restarts;
    if (max == 0) return "";
    if (end.signal == 0 && end.exit_code == kMistake) {
      return "exit code 2 means an error in its arguments or its program, so it is not started again";
    }
    if (task.job() == "ps" && !AnyWorkerUnfinished()) return "no worker is left, so it is not started again";
    if (max > 0 && task.restarts() >= max) {
      return StrCat("it has been started again ", max, max == 1 ? " time" : " times", ", which is the limit");
    }
    return std::nullopt;
  }
  std::string RestartCount(const Task& task) const {
    const int max = options_.restart.max_restarts;
    return max < 0 ? "" : StrCat(" (restart ", task.restarts(), " of ", max, ")");
  }
  bool AnyWorkerUnfinished() const {
    return std::any_of(tasks_.begin(), tasks_.end(),
                       [](const Task& t) { return t.job() == "worker" && t.is_unfinished(); });
  }

  // A task has failed for good. The others may continue for options_.grace.
  void Fail(const std::string& how, int exit_code, const std::string& why) {
    result_.failure = how;
    result_.exit_code = exit_code;
    if (!why.empty()) Say(StrCat(how, ": ", why));
    for (Task& task : tasks_) task.restart_at().reset();
    if (std::any_of(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.is_running(); })) {
      Say(StrCat("the other tasks have ", options_.grace.count() / 1000.0, " s to end by themselves"));
      SetPhase(Phase::kGrace, options_.grace);
    }
  }

  void Restart(Task& task) {
    task.restart_at().reset();
    if (const Status started = StartTask(task); !started.ok()) {
      Fail(StrCat(task.name(), " cannot be started again: ", std::string(started.message())), 1, "");
    }
  }

  static std::string Seconds(Clock::duration duration) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>(duration).count());
    return text;
  }

  void OnSignal(int signal) {
    if (phase_ == Phase::kStop) {  // this is the second signal
      deadline_ = Clock::now();
      return;
    }
    const milliseconds kill_after = signal == SIGTERM ? options_.stop_grace : kKillAfter;
    Say(StrCat("SIG", ::sigabbrev_np(signal), ": the tasks have ", Seconds(kill_after),
               " to save and leave; a second signal ends them at once"));
    if (result_.failure.empty()) result_ = {StrCat("stopped by SIG", ::sigabbrev_np(signal)), 128 + signal};
    Stop(signal, kill_after);
  }

  void OnDeadline() {
    deadline_.reset();
    if (phase_ == Phase::kGrace) {
      Say("stopping the other tasks");
      Stop(SIGTERM, kKillAfter);
    } else if (phase_ == Phase::kStop) {
      for (Task& task : tasks_) task.process()->Signal(SIGKILL);
    } else {
      for (Task& task : tasks_) task.CloseOutput();
    }
  }

  void Stop(int signal, milliseconds kill_after) {
    for (Task& task : tasks_) {
      task.restart_at().reset();
      task.process()->Signal(signal);
    }
    SetPhase(Phase::kStop, kill_after);
  }

  // kRun -> kGrace (a task has failed) -> kStop (the tasks have got a signal, and are killed at the deadline) -> kDrain
  // (all tasks have ended, and their output is read until the deadline). Phases may be skipped.
  enum class Phase { kRun, kGrace, kStop, kDrain };
  void SetPhase(Phase phase, milliseconds limit) {
    phase_ = phase;
    deadline_ = Clock::now() + limit;
  }

  void Say(const std::string& text) { WriteAll(options_.err_fd, StrCat("launch: ", text, "\n")); }

  const LaunchOptions& options_;
  const Clock::time_point began_;
  const BlockedSignals blocked_;
  Fd signals_;
  std::map<std::string, std::vector<std::string>> jobs_;  // the addresses of each job's tasks
  std::vector<HeldPort> ports_;
  std::deque<Task> tasks_;
  Phase phase_ = Phase::kRun;
  std::optional<Clock::time_point> deadline_;
  LaunchResult result_;
};

}  // namespace

StatusOr<RestartPolicy> ParseRestartPolicy(const std::string& text) {
  constexpr std::string_view kOnFailure = "on-failure";
  if (text == "no") return RestartPolicy{};
  if (text == kOnFailure) return RestartPolicy{.max_restarts = -1};
  if (text.starts_with("on-failure:")) {
    const char* first = text.data() + kOnFailure.size() + 1;
    RestartPolicy policy;
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), policy.max_restarts);
    if (error == std::errc() && end == text.data() + text.size() && policy.max_restarts >= 0) return policy;
  }
  return InvalidArgument("--restart=", text,
                         " must be no, on-failure, or on-failure:N, where N is the largest number of",
                         " restarts of each task; for example on-failure:5");
}

StatusOr<LaunchResult> Launch(const LaunchOptions& options) {
  if (options.ps < 0 || options.workers < 1 || options.ps + options.workers > kMaxTasks) {
    return InvalidArgument("--ps=", options.ps, " --workers=", options.workers,
                           ": there must be at least one worker and at most ", kMaxTasks, " tasks");
  }
  if (options.command.empty()) return InvalidArgument("no program to run; put it after '--'");
  if (!options.log_dir.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.log_dir, error);
    if (error)
      return absl::ErrnoToStatus(error.value(), StrCat("cannot create the log directory '", options.log_dir, "'"));
  }
  return Launcher(options).Run();
}

}  // namespace tensorbraid
