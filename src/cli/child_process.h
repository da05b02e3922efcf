// A process of a launch.
#ifndef TENSORBRAID_CLI_CHILD_PROCESS_H_
#define TENSORBRAID_CLI_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/fd.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

// How a process ended.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;  // that killed it, or 0
  bool ok() const { return exit_code == 0 && signal == 0; }
  // "exited with 3", "was killed by SIGKILL".
  std::string ToString() const;
  // What a shell makes of it: the exit code, or 128 + signal.
  int ShellCode() const { return signal != 0 ? 128 + signal : exit_code; }
};

// A running program, leader of a process group of its own, with an empty standard input and its output in pipes. It is
// killed when the thread that started it ends in whatever way. Not thread-safe.
class ChildProcess {
 public:
  // Starts command[0], found through PATH, with `env` added to this process's environment; an empty value removes the
  // variable. NotFound, or the system's error, when it cannot be run. No signal is blocked in the program.
  static StatusOr<ChildProcess> Start(const std::vector<std::string>& command,
                                      const std::vector<std::pair<std::string, std::string>>& env);
  ChildProcess(ChildProcess&&) = default;
  ChildProcess& operator=(ChildProcess&&) = default;
  // Kills what still runs, and waits for it.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // Readable when the program has ended.
  const Fd& end_event() const { return pidfd_; }
  // Closed by the owner after their end. Reads do not block.
  Fd& out() { return out_; }
  Fd& err() { return err_; }

  // Sends a signal to the whole process group. No effect after Reap.
  void Signal(int signal);
  // Waits for the end of the program, and kills what is left of its process group.
  ProcessEnd Reap();

 private:
  ChildProcess(pid_t pid, Fd pidfd, Fd out, Fd err)
      : pid_(pid), pidfd_(std::move(pidfd)), out_(std::move(out)), err_(std::move(err)) {}

  pid_t pid_;
  Fd pidfd_;  // open until reaped
  Fd out_, err_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_CHILD_PROCESS_H_
