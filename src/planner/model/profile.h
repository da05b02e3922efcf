// Reads what a session recorded of its steps (session/step_profiler.h).
#ifndef TENSORBRAID_PLANNER_MODEL_PROFILE_H_
#define TENSORBRAID_PLANNER_MODEL_PROFILE_H_

#include <string>

#include "planner/model/training_graph.h"

namespace tensorbraid::planner {

// Returns the training step of the profile in `directory`, with its graph and what was measured: the signature on which
// the program spent the most time in each step, of those that update a variable on a parameter server (without a
// cluster: any variable), or of all if there is none. `cores` is the number of cores that the worker could use.
// NotFound if no signature was recorded.
StatusOr<TrainingGraph> ReadProfile(const std::string& directory, double cores);

// Whether all steps of the profile in `directory` are of sessions without a cluster; false if there is none. Errors of
// reading the profile.
StatusOr<bool> IsLocalProfile(const std::string& directory);

// Whether the directory has the profile of a signature.
bool HasProfile(const std::string& directory);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_PROFILE_H_
