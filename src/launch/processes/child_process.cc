#include "launch/processes/child_process.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "core/text/strings.h"
#include "launch/processes/cannot_run.h"

namespace tensorbraid {
namespace {

struct Pipe {
  Fd read;
  Fd write;
};

StatusOr<Pipe> MakePipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot create a pipe");
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

// A pseudo-terminal in raw mode: what is written to one end is read from the other end unchanged. A pipe if the system
// has no pseudo-terminal to give.
StatusOr<Pipe> MakeTerminal() {
  Pipe ends{Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)), Fd()};
  char name[128];
  if (!ends.read.is_open() || ::grantpt(ends.read.get()) != 0 || ::unlockpt(ends.read.get()) != 0 ||
      ::ptsname_r(ends.read.get(), name, sizeof name) != 0) {
    return MakePipe();
  }
  ends.write = Fd(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings;
  if (!ends.write.is_open() || ::tcgetattr(ends.write.get(), &settings) != 0) return MakePipe();
  ::cfmakeraw(&settings);
  if (::tcsetattr(ends.write.get(), TCSANOW, &settings) != 0) return MakePipe();
  return ends;
}

// Called by number, because glibc 2.36 declares pidfd_open without C linkage.
Fd PidFd(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

// Pointers to the texts and a final null pointer, as exec expects them.
std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The environment of this process with these changes; an empty value removes a variable.
std::vector<std::string> Environment(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const auto is_name = [&name](const auto& change) { return change.first == name; };
    if (std::none_of(changes.begin(), changes.end(), is_name)) result.push_back(text);
  }
  for (const auto& [name, value] : changes) {
    if (!value.empty()) result.push_back(StrCat(name, "=", value));
  }
  return result;
}

// The child's part of Start. Makes only calls that are safe between fork and exec. Ends in exec, or writes errno to
// `report` and exits. `in` is -1 for an empty standard input.
[[noreturn]] void BecomeProgram(pid_t parent, char* const* argv, char* const* envp, int in, int out, int err,
                                int report, ChildProcess::Orphan orphan) {
  ::setpgid(0, 0);
  if (orphan == ChildProcess::Orphan::kIsKilled) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent ended before prctl
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (in < 0) in = ::open("/dev/null", O_RDONLY);
  if (in >= 0 && ::dup2(in, 0) >= 0 && ::dup2(out, 1) >= 0 && ::dup2(err, 2) >= 0) ::execvpe(argv[0], argv, envp);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

std::string ProcessEnd::ToString() const {
  if (signal == 0) return StrCat("exited with ", exit_code);
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? StrCat("was killed by SIG", name) : StrCat("was killed by signal ", signal);
}

StatusOr<ChildProcess> ChildProcess::Start(const std::vector<std::string>& command,
                                           const std::vector<std::pair<std::string, std::string>>& env,
                                           Stdout standard_output, Stdin standard_input, Orphan orphan) {
  if (command.empty()) return InvalidArgument("no program to run");
  TF_ASSIGN_OR_RETURN(Pipe out, standard_output == Stdout::kTerminal ? MakeTerminal() : MakePipe());
  TF_ASSIGN_OR_RETURN(Pipe err, MakePipe());
  TF_ASSIGN_OR_RETURN(Pipe report, MakePipe());
  Pipe in;
  if (standard_input == Stdin::kPipe) {
    TF_ASSIGN_OR_RETURN(in, MakePipe());
  }
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = Environment(env);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  const pid_t parent = ::getpid();

  const pid_t pid = ::fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, "cannot start a process");
  if (pid == 0) {
    BecomeProgram(parent, argv.data(), envp.data(), in.read.get(), out.write.get(), err.write.get(), report.write.get(),
                  orphan);
  }
  // The child does this too. Here it ensures that the group exists before Signal is called.
  ::setpgid(pid, pid);
  ::fcntl(out.read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(err.read.get(), F_SETFL, O_NONBLOCK);
  if (in.write.is_open()) ::fcntl(in.write.get(), F_SETFL, O_NONBLOCK);
  ChildProcess child(pid, PidFd(pid), std::move(in.write), std::move(out.read), std::move(err.read));
  if (!child.pidfd_.is_open()) {
    const Status status = absl::ErrnoToStatus(errno, "cannot watch a process");
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return status;
  }

  // A successful exec closes the pipe, so an empty read means that the program runs.
  report.write.Close();
  int error = 0;
  ssize_t got;
  do {
    got = ::read(report.read.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof error) return CannotRun(command[0], error);
  return child;
}

ChildProcess::~ChildProcess() {
  if (!pidfd_.is_open()) return;
  Signal(SIGKILL);
  Reap();
}

void ChildProcess::Signal(int signal) {
  if (pidfd_.is_open()) ::kill(-pid_, signal);
}

ProcessEnd ChildProcess::Reap() {
  ProcessEnd end;
  if (!pidfd_.is_open()) return end;
  // First wait without reaping: until the program is reaped, no other process group can get its number.
  siginfo_t info{};
  while (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  ::kill(-pid_, SIGKILL);
  while (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED) != 0 && errno == EINTR) {
  }
  pidfd_.Close();
  if (info.si_code == CLD_EXITED) {
    end.exit_code = info.si_status;
  } else {
    end.signal = info.si_status;
  }
  return end;
}

}  // namespace tensorbraid
