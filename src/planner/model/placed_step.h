// The graph of one training step on the tasks that a plan is made for.
#ifndef TENSORBRAID_PLANNER_MODEL_PLACED_STEP_H_
#define TENSORBRAID_PLANNER_MODEL_PLACED_STEP_H_

#include <map>
#include <memory>
#include <string>

#include "planner/model/training_graph.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid::planner {

// Returns the part of the step for each task: "/job:worker/replica:0/task:0" and the servers
// "/job:ps/replica:0/task:0", .... Variables are placed on the servers as options.placement says (kEven: all on server
// 0, see DividedOver); all other operations that the graph places on a server follow the variables that they use or
// that use them. Errors as ProgramOf.
StatusOr<std::map<std::string, std::unique_ptr<Graph>>> PlacedStep(const TrainingGraph& graph,
                                                                   const GraphOptions& options);

// Returns the step on one task with accelerators of this type and a CPU, as a session of this process would prepare it
// (placement/, executor/optimize.h). Nodes that name a device of type CPU or a parameter server are on the CPU. Those
// that name another device are on the accelerator with its number, and all others on the first one. Errors as
// ProgramOf.
StatusOr<std::unique_ptr<Graph>> StepOnAccelerators(const TrainingGraph& graph, const GraphOptions& options,
                                                    const std::string& device_type);

// The first dimension of the first feed that has one: the examples of a step. 0 if it is not known.
int64_t BatchOf(const TrainingGraph& graph);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_PLACED_STEP_H_
