#include "launch/jobs/detach.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <utility>

#include "core/system/clock.h"
#include "core/system/host_name.h"
#include "core/text/strings.h"
#include "launch/jobs/detached_job.h"
#include "launch/jobs/jobs.h"
#include "launch/processes/blocked_signals.h"

namespace tensorbraid {
namespace {

// What the launcher tells the process that waits for it: kStarted, or the code and the message of an error.
constexpr char kStarted[] = "started";

std::string ToText(const Status& status) {
  return StrCat(static_cast<int>(status.code()), " ", std::string(status.message()));
}
Status ToStatus(const std::string& text) {
  const size_t blank = text.find(' ');
  if (blank == std::string::npos) {
    return absl::UnavailableError("the launcher was killed before all tasks had been started");
  }
  return {static_cast<absl::StatusCode>(std::atoi(text.c_str())), text.substr(blank + 1)};
}

// The process of the launcher. `answer` goes to the process that waits.
class DetachedLauncher {
 public:
  DetachedLauncher(NewJob job, Fd answer) : job_(job.job), answer_(std::move(answer)) {
    job_and_lock_ = std::move(job);
  }

  // Returns the exit code.
  int Run(LaunchOptions options, std::unique_ptr<Engine> engine) {
    LeaveTerminal();
    job_.pid = job_and_lock_.job.pid = ::getpid();
    Status status = WriteJob(job_);
    if (!status.ok()) return Refuse(status);
    auto monitor = DetachedJob::Create(std::move(job_and_lock_), [this] { Answer(kStarted); });
    if (!monitor.ok()) return Refuse(monitor.status());
    options.monitor = monitor->get();
    auto result = Launch(options, std::move(engine));
    if (!result.ok()) {
      if (answer_.is_open()) return Refuse(result.status());
      (*monitor)->OnOutput(OutputStream::kErr, StrCat("launch: ", ToString(result.status()), "\n"));
      result = LaunchResult{.failure = ToString(result.status()), .exit_code = 1};
    }
    status = (*monitor)->Finish({.exit_code = result->exit_code,
                                 .failure = result->failure,
                                 .ended_s = static_cast<int64_t>(WallClock::Seconds()),
                                 .report = result->report});
    if (answer_.is_open()) Answer(ToText(absl::CancelledError(result->failure)));  // before all tasks were started
    return status.ok() ? result->exit_code : 1;
  }

 private:
  static void LeaveTerminal() {
    ::setsid();
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int fd : {0, 1, 2}) ::dup2(null.get(), fd);
  }
  void Answer(const std::string& text) {
    [[maybe_unused]] const ssize_t written = ::write(answer_.get(), text.data(), text.size());
    answer_.Close();
  }
  int Refuse(const Status& why) {
    std::error_code error;
    std::filesystem::remove_all(job_.folder, error);
    Answer(ToText(why));
    return 1;
  }

  Job job_;
  NewJob job_and_lock_;
  Fd answer_;  // open until it is given
};

}  // namespace

StatusOr<std::string> LaunchDetached(const LaunchOptions& options, std::unique_ptr<Engine> engine,
                                     const DetachOptions& detach) {
  if (options.command.empty()) return InvalidArgument("no program to run; put it after '--'");
  TF_ASSIGN_OR_RETURN(NewJob job, CreateJob(detach.jobs_directory, {.name = "",
                                                                    .folder = "",
                                                                    .host = HostName(),
                                                                    .command = options.command,
                                                                    .on = detach.on,
                                                                    .ps = options.ps,
                                                                    .workers = options.workers,
                                                                    .started_s = int64_t(WallClock::Seconds()),
                                                                    .clean_up = engine->CleanUpCommand()}));
  const std::string name = job.job.name, folder = job.job.folder;
  std::array<int, 2> fds{};
  const pid_t pid = ::pipe2(fds.data(), O_CLOEXEC) == 0 ? ::fork() : -1;
  if (pid < 0) {
    const Status status = absl::ErrnoToStatus(errno, "cannot start the launcher");
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    return status;
  }
  Fd read(fds[0]), write(fds[1]);
  if (pid == 0) {
    read.Close();
    ::_exit(DetachedLauncher(std::move(job), std::move(write)).Run(options, std::move(engine)));
  }
  write.Close();
  job.lock.Close();
  const BlockedSignals signals;
  std::string answer;
  for (;;) {
    std::array<pollfd, 2> events = {{{read.get(), POLLIN, 0}, {signals.fd().get(), POLLIN, 0}}};
    ::poll(events.data(), events.size(), -1);
    signals.Read([pid](int signal) { ::kill(pid, signal); });
    if (events[0].revents == 0) continue;
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(read.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.append(bytes.data(), static_cast<size_t>(got));
  }
  if (answer == kStarted) return name;
  return ToStatus(answer);
}

}  // namespace tensorbraid
