// Sums of the gradients of a machine's workers (docs/design/0029), as the planner simulates them.
#ifndef TENSORBRAID_PLANNER_MODEL_SUMMED_STEP_H_
#define TENSORBRAID_PLANNER_MODEL_SUMMED_STEP_H_

#include "planner/model/step_program.h"

namespace tensorbraid::planner {

// The step that `workers` workers of a machine make together, as the step of one worker. The values arrive once, are
// copied to shared memory, and are then used by all. All compute at the same time, on the cores of their machine or on
// devices of their own. When all gradients are there, their sum leaves. What else a worker exchanges with the servers,
// such as rows of embeddings, each worker exchanges by itself. REQUIRES: workers is positive.
StepProgram SummedStep(const StepProgram& program, int workers);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_SUMMED_STEP_H_
