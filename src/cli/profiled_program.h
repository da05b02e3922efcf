// Runs a program for `tensorbraid plan` until its training step has been recorded.
#ifndef TENSORBRAID_CLI_PROFILED_PROGRAM_H_
#define TENSORBRAID_CLI_PROFILED_PROGRAM_H_

#include <string>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct ProfiledRun {
  double others_share = 0;  // of all cores, which other programs used while the steps were measured
};

// Starts `command` as a cluster of one parameter server and one worker on this machine, whose sessions write profiles
// of their steps to `directory` (session/step_profiler.h), and stops it when there is one. A program that does not
// train in a cluster is started once more, in one process. What the tasks print goes to standard error.
// FailedPrecondition if the program ends before it was measured; AlreadyExists if there is a profile beforehand; the
// errors of Launch.
StatusOr<ProfiledRun> RunProfiled(const std::vector<std::string>& command, const std::string& directory);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_PROFILED_PROGRAM_H_
