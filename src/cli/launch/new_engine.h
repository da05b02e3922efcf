// Makes the engine that `tensorbraid launch --on=ENGINE` asks for.
#ifndef TENSORBRAID_CLI_LAUNCH_NEW_ENGINE_H_
#define TENSORBRAID_CLI_LAUNCH_NEW_ENGINE_H_

#include <memory>

#include "cli/commands.h"
#include "cli/launch/launch_flags.h"
#include "launch/engines/engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Unless the flags ask for a dry run, first brings what --sync names, and blocks meanwhile. The tasks then also get the
// variables that they need for it (flags->options.environment), and a Python program runs with the Python that its
// machine has for it (flags->options.command). InvalidArgument names flags that do not fit the engine.
StatusOr<std::unique_ptr<Engine>> NewEngine(const Invocation& invocation, LaunchFlags* flags);

// Submits a batch job of Slurm that runs this command without --batch, or prints its script in a dry run.
Status LaunchAsBatchJob(const LaunchFlags& flags, const Invocation& invocation);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_LAUNCH_NEW_ENGINE_H_
