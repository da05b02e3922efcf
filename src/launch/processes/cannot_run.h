// Why a program could not be started.
#ifndef TENSORBRAID_LAUNCH_PROCESSES_CANNOT_RUN_H_
#define TENSORBRAID_LAUNCH_PROCESSES_CANNOT_RUN_H_

#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The error for a program that exec refused with the system's error `error`: what is wrong with the program's file, and
// what helps. The code is that of `error`, such as NotFound or PermissionDenied. Reads the file system, so call it
// where the program was to run.
Status CannotRun(const std::string& program, int error);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_PROCESSES_CANNOT_RUN_H_
