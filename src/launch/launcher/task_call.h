// How the programs of a job's tasks are called.
#ifndef TENSORBRAID_LAUNCH_LAUNCHER_TASK_CALL_H_
#define TENSORBRAID_LAUNCH_LAUNCHER_TASK_CALL_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "launch/engines/engine.h"
#include "launch/launcher/launcher.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Reads NAME=VALUE, or NAME for a variable of this process. InvalidArgument if that is not set, or if the launcher
// itself sets the variable.
StatusOr<std::pair<std::string, std::string>> ParseEnvironment(const std::string& text);

// The tasks of the job, in order, as pairs of a job and an index: parameter servers, the chief, workers, the evaluator.
std::vector<std::pair<std::string, int>> TasksOf(const LaunchOptions& options);

// Whether the program has flags for certificates, tokens and --insecure. Python programs get these from the
// environment, because programs for TensorFlow know only the flags of the cluster.
bool KnowsAccessFlags(const LaunchOptions& options);

using Addresses = std::map<std::string, std::vector<std::string>>;  // of the tasks of each job
// The call of a task's program, with the flags or environment variables that tell it its cluster, job and index.
ProgramCall CallOf(const std::string& job, int index, Addresses addresses, const LaunchOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_LAUNCHER_TASK_CALL_H_
