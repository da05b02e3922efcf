#include "launch/processes/group_guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

namespace tensorbraid {
namespace {

constexpr size_t kMostGroups = 1024;  // more than a launcher has tasks

// The guard's process. `pipe` brings the number of a group to add it, and the negative number to remove it. Makes only
// calls that are safe after the fork of a program that may have threads.
[[noreturn]] void Watch(int pipe) {
  ::setsid();  // what kills the launcher's process group or session does not kill the guard
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_NAME, "tb-guard");
  // No descriptor of the launcher stays open here, so that the readers of its output see their end.
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) ::dup2(null, fd);
  constexpr int kPipe = 3;
  if (pipe != kPipe) ::dup2(pipe, kPipe);
  ::close_range(kPipe + 1, ~0U, 0);

  std::array<pid_t, kMostGroups> groups{};
  size_t count = 0;
  pid_t change;
  for (;;) {
    const ssize_t got = ::read(kPipe, &change, sizeof change);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof change) break;  // the launcher has ended
    if (change > 0 && count < groups.size()) groups[count++] = change;
    if (change < 0)
      count = static_cast<size_t>(std::remove(groups.data(), groups.data() + count, -change) - groups.data());
  }
  for (size_t i = 0; i < count; ++i) ::kill(-groups[i], SIGKILL);
  ::_exit(0);
}

}  // namespace

GroupGuard::GroupGuard() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return;
  const Fd read(fds[0]);
  pipe_ = Fd(fds[1]);
  pid_ = ::fork();
  if (pid_ == 0) {
    pipe_.Close();  // otherwise the guard would wait for itself
    Watch(read.get());
  }
}

GroupGuard::~GroupGuard() {
  pipe_.Close();
  if (pid_ <= 0) return;
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void GroupGuard::Add(pid_t group) { Tell(group); }
void GroupGuard::Remove(pid_t group) { Tell(-group); }

void GroupGuard::Tell(pid_t change) {
  if (pid_ <= 0) return;
  // A write of this size to a pipe is not divided. It fails only if the guard was killed (SIGPIPE is ignored).
  while (::write(pipe_.get(), &change, sizeof change) < 0 && errno == EINTR) {
  }
}

}  // namespace tensorbraid
