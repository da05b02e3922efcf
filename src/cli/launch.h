// `tensorbraid launch`: a cluster of local processes.
#ifndef TENSORBRAID_CLI_LAUNCH_H_
#define TENSORBRAID_CLI_LAUNCH_H_

#include <chrono>
#include <string>
#include <vector>

#include "tensorbraid/status.h"

namespace tensorbraid {

// How a task learns of its cluster and of itself.
enum class TaskStyle {
  kFlags,     // --ps_hosts, --worker_hosts, --job_name and --task_index behind the program's own arguments
  kTfConfig,  // the environment variable TF_CONFIG
};

struct LaunchOptions {
  int ps = 1;
  int workers = 2;
  std::vector<std::string> command = {};
  TaskStyle style = TaskStyle::kFlags;
  // Where each task's output is kept, as worker-0.log; "" for nowhere. Made when it does not exist.
  std::string log_dir = "";
  // How long the other tasks may go on when one has failed.
  std::chrono::milliseconds grace{30000};
  // Where lines go: what tasks write to standard output, and the rest. Not closed.
  int out_fd = 1;
  int err_fd = 2;
};

struct LaunchResult {
  // The first failure, "worker/1 exited with 3"; empty when all tasks ended with 0.
  std::string failure;
  // 0, or what a shell would make of that failure. After SIGINT, SIGTERM or SIGHUP to the launcher 128 + the signal.
  int exit_code = 0;
};

// Starts options.ps tasks of job ps and options.workers of job worker on free ports of this machine, which are held
// until the end, and waits for the end of all. Lines of output are passed on with "[worker/0] " before them (in colour
// on a terminal, unless NO_COLOR is set); those that begin with '{' stay as they are.
//
// When a task fails, the others have options.grace to end by themselves, then get SIGTERM. SIGINT, SIGTERM and SIGHUP
// are passed on to all tasks. Whatever is left 1.5 s after a signal is killed, at once after a second one; no process
// of a task's process group outlives the task, and none outlives this call. The three signals are blocked meanwhile, so
// call it where no other thread takes them.
//
// InvalidArgument for options that make no cluster; the error of the system when a program cannot be run.
StatusOr<LaunchResult> Launch(const LaunchOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_LAUNCH_H_
