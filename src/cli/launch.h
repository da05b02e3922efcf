// `tensorbraid launch`: a cluster of local processes.
#ifndef TENSORBRAID_CLI_LAUNCH_H_
#define TENSORBRAID_CLI_LAUNCH_H_

#include <chrono>
#include <string>
#include <vector>

#include "tensorbraid/status.h"

namespace tensorbraid {

// How a task is told its cluster, its job and its index.
enum class TaskStyle {
  kFlags,     // --ps_hosts, --worker_hosts, --job_name and --task_index after the program's own arguments
  kTfConfig,  // the environment variable TF_CONFIG
};

struct LaunchOptions {
  int ps = 1;
  int workers = 2;
  std::vector<std::string> command = {};
  TaskStyle style = TaskStyle::kFlags;
  // The directory for copies of each task's output, such as worker-0.log; "" for none. Created if it does not exist.
  std::string log_dir = "";
  // How long the other tasks may continue after one has failed.
  std::chrono::milliseconds grace{30000};
  // File descriptors for the output: `out_fd` for what tasks write to standard output, `err_fd` for everything else.
  // Launch does not close them.
  int out_fd = 1;
  int err_fd = 2;
};

struct LaunchResult {
  // The first failure, "worker/1 exited with 3"; empty when all tasks exited with 0.
  std::string failure;
  // 0, or that failure as a shell reports it. 128 + signal if the launcher was stopped by SIGINT, SIGTERM or SIGHUP.
  int exit_code = 0;
};

// Starts options.ps tasks of job ps and options.workers tasks of job worker, and waits until all have ended. They get
// free ports of this machine, which are held until then. Each line of output is passed on with a prefix such as
// "[worker/0] " (in colour on a terminal, unless NO_COLOR is set); lines that begin with '{' are passed on without one.
//
// When a task fails, the others have options.grace to end by themselves; then they get SIGTERM. SIGINT, SIGTERM and
// SIGHUP are passed on to all tasks. Tasks that still run 1.5 s after a signal are killed; after a second signal, at
// once. No process of a task's process group outlives the task or this call. The three signals are blocked during the
// call, so every other thread of the program must block them too.
//
// InvalidArgument when the options do not describe a cluster; the system's error when the program cannot be run.
StatusOr<LaunchResult> Launch(const LaunchOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_LAUNCH_H_
