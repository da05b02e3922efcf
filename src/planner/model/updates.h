// Finds the activities of a step that update variables with the worker's gradients.
#ifndef TENSORBRAID_PLANNER_MODEL_UPDATES_H_
#define TENSORBRAID_PLANNER_MODEL_UPDATES_H_

#include <map>
#include <string>

#include "planner/model/step_program.h"

namespace tensorbraid::planner {

// A node of a server that updates a variable.
struct UpdateNode {
  int variable = 0;  // a number from 0 on
  std::string type;  // of the node, such as "ResourceApplyAdam"
};

// Sets variable, after_gradients, accumulates, accumulate_ns and by_rows of all activities of servers. `updates` has
// the activities that update a variable. What an activity follows is known only when the parts of all tasks have been
// added: a value that an optimizer keeps on another server arrives before the update and says nothing about gradients,
// but a signal from there may follow an update.
void MarkUpdates(const std::map<int, UpdateNode>& updates, StepProgram* program);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_UPDATES_H_
