#include "cli/bench/busy_programs.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace tensorbraid {

StatusOr<std::unique_ptr<BusyPrograms>> BusyPrograms::Start(int count) {
  std::unique_ptr<BusyPrograms> programs(new BusyPrograms());
  const pid_t parent = ::getpid();
  while (static_cast<int>(programs->pids_.size()) < count) {
    const pid_t pid = ::fork();
    if (pid < 0) return absl::ErrnoToStatus(errno, "cannot start a busy program");
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      for (volatile unsigned turns = 0;;) turns = turns + 1;
    }
    programs->pids_.push_back(pid);
  }
  return programs;
}

BusyPrograms::~BusyPrograms() {
  for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
  for (const pid_t pid : pids_) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

}  // namespace tensorbraid
