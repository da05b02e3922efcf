// What is known of a program's arguments before a step runs.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_KNOWN_ARGUMENTS_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_KNOWN_ARGUMENTS_H_

#include <vector>

#include "executor/clusters/make.h"
#include "pjrt/emitter.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The arguments that a run of the cluster will have if variables have values of the shapes that the graph says, and if
// no two of its nodes are the same variable. One for each argument of the body, as ArgumentsOf (signature.h) gives them
// for a run. FailedPrecondition, with the node, if a shape or the value of a static argument is not known.
StatusOr<std::vector<pjrt::ProgramArgument>> KnownArgumentsOf(const ClusterBody& body);

// Whether the program is another one if a variable is not initialized when it starts: a node assigns a value to it, or
// asks whether it has one, before any node reads it.
bool DependsOnInitialization(const ClusterBody& body);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_KNOWN_ARGUMENTS_H_
