#include "launch/processes/group_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace tensorbraid {
namespace {

constexpr size_t kMostGroups = 1024;  // more than a launcher has tasks
constexpr size_t kMostOutputs = 2;
constexpr pid_t kEnd = 0;  // in place of a group: the launcher ends in good order
// The guard's descriptors. kPipe brings the number of a group to add it, the negative number to remove it, and kEnd.
constexpr int kPipe = 3;
constexpr int kOutputs = kPipe + 1;  // the first of them

// Closes all other descriptors, so that the readers of the launcher's output see their end.
void KeepDescriptors(int pipe, const std::vector<int>& outputs) {
  std::array<int, 1 + kMostOutputs> kept = {pipe};
  const size_t count = std::min(outputs.size(), kMostOutputs);
  std::copy_n(outputs.begin(), count, kept.begin() + 1);
  // First to numbers that are free in any case.
  constexpr int kFree = kOutputs + static_cast<int>(kMostOutputs);
  for (size_t i = 0; i <= count; ++i) kept[i] = ::fcntl(kept[i], F_DUPFD, kFree);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) ::dup2(null, fd);
  for (size_t i = 0; i <= count; ++i) ::dup2(kept[i], kPipe + static_cast<int>(i));
  ::close_range(static_cast<unsigned>(kOutputs) + static_cast<unsigned>(count), ~0U, 0);
}

void ReadToTheEnd(size_t outputs) {
  const size_t count = std::min(outputs, kMostOutputs);
  std::array<pollfd, kMostOutputs> open{};
  for (size_t i = 0; i < count; ++i) open[i] = {kOutputs + static_cast<int>(i), POLLIN, 0};
  std::array<char, 65536> ignored;
  while (std::any_of(open.begin(), open.begin() + count, [](const pollfd& output) { return output.fd >= 0; })) {
    if (::poll(open.data(), count, -1) < 0) continue;
    for (size_t i = 0; i < count; ++i) {
      if (open[i].fd < 0 || open[i].revents == 0) continue;
      const ssize_t got = ::read(open[i].fd, ignored.data(), ignored.size());
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) open[i].fd = -1;
    }
  }
}

// The guard's process. Makes only calls that are safe after the fork of a program that may have threads.
[[noreturn]] void Watch(int pipe, const GroupGuardOptions& options) {
  ::setsid();  // what kills the launcher's process group or session does not kill the guard
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_NAME, "tb-guard");
  KeepDescriptors(pipe, options.outputs);

  std::array<pid_t, kMostGroups> groups{};
  size_t count = 0;
  pid_t change;
  for (;;) {
    const ssize_t got = ::read(kPipe, &change, sizeof change);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof change) break;  // the launcher was killed
    if (change == kEnd) ::_exit(0);
    if (change > 0 && count < groups.size()) groups[count++] = change;
    if (change < 0)
      count = static_cast<size_t>(std::remove(groups.data(), groups.data() + count, -change) - groups.data());
  }
  for (size_t i = 0; i < count; ++i) ::kill(-groups[i], SIGKILL);
  if (options.process > 0) ::kill(options.process, options.signal);
  ReadToTheEnd(options.outputs.size());
  if (!options.folder.empty()) ::execlp("rm", "rm", "-rf", "--", options.folder.c_str(), static_cast<char*>(nullptr));
  ::_exit(0);
}

}  // namespace

GroupGuard::GroupGuard(GroupGuardOptions options) : options_(std::move(options)) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return;
  const Fd read(fds[0]);
  pipe_ = Fd(fds[1]);
  pid_ = ::fork();
  if (pid_ == 0) {
    pipe_.Close();  // otherwise the guard would wait for itself
    Watch(read.get(), options_);
  }
}

GroupGuard::~GroupGuard() {
  Tell(kEnd);
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
