// Runs a program for `tensorbraid plan` until its training step has been recorded.
#ifndef TENSORBRAID_CLI_PROFILED_PROGRAM_H_
#define TENSORBRAID_CLI_PROFILED_PROGRAM_H_

#include <string>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Starts `command` as a cluster of one parameter server and one worker on this machine, whose sessions write profiles
// of their steps to `directory` (session/step_profiler.h), and stops it when there is one. What the tasks print goes to
// standard error. FailedPrecondition if the program ends before; AlreadyExists if there is a profile beforehand; the
// errors of Launch.
Status RunProfiled(const std::vector<std::string>& command, const std::string& directory);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_PROFILED_PROGRAM_H_
