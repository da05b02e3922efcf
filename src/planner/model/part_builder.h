// Makes the activities of one task's part of a step.
#ifndef TENSORBRAID_PLANNER_MODEL_PART_BUILDER_H_
#define TENSORBRAID_PLANNER_MODEL_PART_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>

#include "executor/plan.h"
#include "planner/model/node_costs.h"
#include "planner/model/step_program.h"
#include "planner/model/updates.h"

namespace tensorbraid::planner {

// What the parts of a step share.
struct StepParts {
  std::map<int64_t, int> transfers = {};      // the transfer of each edge between tasks
  std::map<std::string, int> variables = {};  // the number of each variable that is updated
  std::map<int, UpdateNode> updates = {};     // by activity
};

// Appends the activities of `task`, whose part of the step is `plan`, to `program`, and connects them with each other
// and with the transfers of the program. After the last part, MarkUpdates finds the gradients. REQUIRES:
// parts->transfers has all edges of the plan.
void AddPart(int task, const Plan& plan, NodeCosts* costs, StepParts* parts, StepProgram* program);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_PART_BUILDER_H_
