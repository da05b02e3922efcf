// Starts a job that goes on without this terminal (`tensorbraid launch --detach`).
#ifndef TENSORBRAID_LAUNCH_JOBS_DETACH_H_
#define TENSORBRAID_LAUNCH_JOBS_DETACH_H_

#include <memory>
#include <string>

#include "launch/engines/engine.h"
#include "launch/launcher/launcher.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct DetachOptions {
  std::string jobs_directory;  // see JobsDirectory
  std::string on;              // the engine, for the list of jobs
};

// Starts the launcher as a process in a session of its own, waits until all tasks have been started, and returns the
// name of the job. Signals that arrive before that are passed on. The launcher's error, as Launch returns it, if the
// tasks cannot be started; then nothing is left of the job. Call from a program with one thread.
StatusOr<std::string> LaunchDetached(const LaunchOptions& options, std::unique_ptr<Engine> engine,
                                     const DetachOptions& detach);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_JOBS_DETACH_H_
