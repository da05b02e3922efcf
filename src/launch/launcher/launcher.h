// Starts and watches the tasks of a job, for `tensorbraid launch` (launch_command.cc).
#ifndef TENSORBRAID_LAUNCH_LAUNCHER_LAUNCHER_H_
#define TENSORBRAID_LAUNCH_LAUNCHER_LAUNCHER_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launch/engines/engine.h"
#include "launch/launcher/job_monitor.h"
#include "launch/launcher/restart_policy.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The way in which a task gets its cluster, its job and its index.
enum class TaskStyle {
  kFlags,  // --ps_hosts, --worker_hosts, --job_name and --task_index after the program's own arguments
  // The environment variable TF_CONFIG. As TensorFlow's Estimators expect, the first worker is the only task of job
  // "chief", so that job "worker" has one task less.
  kTfConfig,
  kNone,  // no way: the program trains in one process. For a job of one worker
};

struct LaunchOptions {
  int ps = 1;
  int workers = 2;         // with the chief
  bool evaluator = false;  // one more task, of job "evaluator", which is no part of the cluster; kTfConfig only
  std::vector<std::string> command = {};
  TaskStyle style = TaskStyle::kFlags;
  // Added to the environment of each task, in place of a variable that is there. An empty value removes the variable.
  std::vector<std::pair<std::string, std::string>> environment = {};
  // The directory for copies of each task's output, such as worker-0.log; "" for none. Created if it does not exist.
  // The files are appended to, with a line at each start of the task.
  std::string log_dir = "";
  // How many GPUs of its machine each task but the parameter servers gets, which get none. 0: the tasks see all GPUs,
  // or those that the engine gives them.
  int gpus_per_worker = 0;
  // Passed on to each task as --token_file; "" for none.
  std::string token_file = "";
  // Lets the tasks listen for other machines without TLS.
  bool insecure = false;
  RestartPolicy restart = {};
  // Given to the first task (ps/0, or worker/0 without parameter servers) as --metrics_port; 0: to none.
  int metrics_port = 0;
  // The file for what the table at the end shows, as JSON; "" for none.
  std::string report_file = "";
  // How long the other tasks may continue after one has failed for good.
  std::chrono::milliseconds grace{30000};
  // How long tasks may take to save and leave after SIGTERM, before they are killed.
  std::chrono::milliseconds stop_grace{30000};
  // After what time without machines the launcher says for the first time that it still waits for them. The times
  // between two such lines double.
  std::chrono::milliseconds remind_after{30000};
  // File descriptors for the output: `out_fd` for what tasks write to standard output, `err_fd` for everything else.
  // Launch does not close them.
  int out_fd = 1;
  int err_fd = 2;
  // Gets all output instead of the two descriptors, and may stop the job; null for none. Outlives the call.
  JobMonitor* monitor = nullptr;
};

struct LaunchResult {
  // The first failure that a restart did not cure, such as "worker/1 exited with 3"; empty if every task exited with 0
  // in the end.
  std::string failure;
  // 0 if there was no such failure, otherwise the exit code of the task that failed, or 128 + the signal that ended it.
  // 128 + signal if the launcher was stopped by SIGINT, SIGTERM or SIGHUP, and 128 + SIGPIPE if the reader of its
  // output ended before it.
  int exit_code = 0;
  bool machine_lost = false;  // the job has failed because a machine was lost
  std::string report = "";    // what the tasks did, as JSON (job_report.h)
};

// Starts options.ps parameter servers, options.workers workers and perhaps an evaluator (TasksOf in task_call.h), and
// waits until all have ended. The engine chooses their machines and ports. Each line of a task's output is passed on
// with a prefix such as "[worker/0] " (in colour on a terminal, unless NO_COLOR is set); lines that begin with '{' are
// passed on without one.
//
// A task that fails is started again, as options.restart says: at the same address, or on another machine if its own is
// lost and the engine has one. It is not started again when it exits with 2, which means an error in its arguments or
// its program (see ExitCode in status.h), nor when it is a parameter server and no worker is left. Once a parameter
// server has ended with 0, no task of the cluster is started again: the servers have seen the end of the work. An
// evaluator still is, because it needs no server.
//
// When a task fails for good, the others have options.grace to end by themselves; then they get SIGTERM, and are killed
// 1.5 s later.
//
// At the end, what the servers of the tasks reported (cluster/status/report_file.h) is printed as a table, and written
// to options.report_file. Nothing is printed if no such server made a step.
//
// SIGINT and SIGTERM are passed on to all tasks; at SIGHUP they get SIGTERM. Tasks that still run after a while are
// killed: after 1.5 s if the signal was SIGINT, otherwise after options.stop_grace. A second signal kills them at once,
// unless it comes within a second of the first one: it is the same request then. Once the reader of a pipe to which
// the output goes has ended, the tasks get SIGTERM.
//
// The job does not wait for readers of its output (OutputQueue). At the end, Launch waits until all of it is written;
// any of the three signals ends this wait, and if the job was asked to end, so does a second in which nothing is read.
//
// No process of a task's process group outlives the task or this call. The three signals are blocked during the call,
// so every other thread of the program must block them too.
//
// InvalidArgument when the options do not describe a cluster, or when the program does not exist or may not be run; the
// system's error when report_file cannot be written although all tasks have succeeded; the engine's error when it has
// no place for the tasks.
StatusOr<LaunchResult> Launch(const LaunchOptions& options, std::unique_ptr<Engine> engine);
// What Launch would do, in lines for the user: the engine's places, and the program of each job's first task with PORT
// in place of the ports. The same errors as Launch, as far as they are known before anything is started.
StatusOr<std::string> DescribeLaunch(const LaunchOptions& options, const Engine& engine);
// On this machine.
StatusOr<LaunchResult> Launch(const LaunchOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_LAUNCHER_LAUNCHER_H_
