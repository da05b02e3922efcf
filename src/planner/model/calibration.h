// Makes the planner agree with a measured step.
#ifndef TENSORBRAID_PLANNER_MODEL_CALIBRATION_H_
#define TENSORBRAID_PLANNER_MODEL_CALIBRATION_H_

#include "planner/planner.h"

namespace tensorbraid::planner {

// The variation that was measured, as one of the worker's computation alone.
Stragglers MeasuredStragglers(const MeasuredStep& measured);

// This machine: one server and one worker that share `cores` and memory.
Hardware ThisMachine(double cores, const WayCosts& local);

// Messages on all ways of `hardware` wake threads as those of the measured machine do. Without effect if other programs
// kept its cores busy, since a core was hardly ever idle then.
void SetWakeUps(const MeasuredMachine& machine, Hardware* hardware);

// Changes `input` so that one worker with one server on the hardware of the measurement, `measured_on`, take the time
// and, if the time of the server's cores is known, use the cores as measured. Returns the predicted time of the step
// before that, in ns; 0 if no step was measured.
//
// If the measured step takes longer, messages cost more, up to a few times of what they usually do; what is left is
// work between two steps as far as the worker's cores were in use, and otherwise waiting. If it is shorter, messages
// cost less, and then the nodes, since tracing makes small kernels slower. The use of the cores that none of this
// explains follows the messages (WayCosts::server_after_ns). So does what it costs to wake a thread
// (input->machine.wake), if threads polled when they were measured on one machine: where tasks share cores, threads
// sleep instead. The costs of messages change for the ways of `input->hardware` that are like the measured one.
//
// A step that was measured without a cluster says nothing about messages; `measured_on` is then not used.
StatusOr<double> Calibrate(PlanInput* input, const Hardware& measured_on);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_CALIBRATION_H_
