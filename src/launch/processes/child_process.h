// A child process and its process group.
#ifndef TENSORBRAID_LAUNCH_PROCESSES_CHILD_PROCESS_H_
#define TENSORBRAID_LAUNCH_PROCESSES_CHILD_PROCESS_H_

#include <sys/types.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "core/system/fd.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// How a process ended.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;  // the signal that killed it, or 0
  bool ok() const { return exit_code == 0 && signal == 0; }
  // "exited with 3", "was killed by SIGKILL".
  std::string ToString() const;
  // As a shell reports it: the exit code, or 128 + signal.
  int ShellCode() const { return signal != 0 ? 128 + signal : exit_code; }
};

// A running program. It leads its own process group, and its output can be read through this object. Not thread-safe.
class ChildProcess {
 public:
  // The kind of the program's standard output. Programs write to a pipe in blocks, often only when they end. To a
  // terminal (here a pseudo-terminal) they write line by line. Standard error is always a pipe: programs do not buffer
  // it.
  enum class Stdout { kPipe, kTerminal };
  // What the program reads: nothing, or what the owner of this object writes.
  enum class Stdin { kEmpty, kPipe };
  // What happens to the program when the thread that started it ends, for example because this process is killed.
  enum class Orphan { kIsKilled, kGoesOn };
  // Starts command[0], found through PATH, with `env` added to this process's environment; an empty value removes the
  // variable. If the program cannot be run, returns the system's error, such as NotFound. No signal is blocked in the
  // program.
  static StatusOr<ChildProcess> Start(const std::vector<std::string>& command,
                                      const std::vector<std::pair<std::string, std::string>>& env,
                                      Stdout standard_output = Stdout::kPipe, Stdin standard_input = Stdin::kEmpty,
                                      Orphan orphan = Orphan::kIsKilled);
  ChildProcess(ChildProcess&&) = default;
  ChildProcess& operator=(ChildProcess&&) = default;
  // Kills the process group if the program has not been reaped, and reaps it.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // Readable when the program has ended.
  const Fd& end_event() const { return pidfd_; }
  // The program's standard output and standard error. Reads do not block. The owner of this object closes each of the
  // two descriptors when a read from it returns 0 bytes or an error other than EAGAIN. (The output of a terminal ends
  // with EIO.)
  Fd& out() { return out_; }
  Fd& err() { return err_; }
  // The end of the program's standard input to write to, if it is a pipe. Writes do not block.
  Fd& in() { return in_; }

  // Sends a signal to the whole process group. No effect after Reap.
  void Signal(int signal);
  // Waits for the program to end, then kills the rest of its process group.
  ProcessEnd Reap();

 private:
  ChildProcess(pid_t pid, Fd pidfd, Fd in, Fd out, Fd err)
      : pid_(pid), pidfd_(std::move(pidfd)), in_(std::move(in)), out_(std::move(out)), err_(std::move(err)) {}

  pid_t pid_;
  Fd pidfd_;  // open until reaped
  Fd in_, out_, err_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_PROCESSES_CHILD_PROCESS_H_
