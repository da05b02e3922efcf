// How sure a prediction is.
#ifndef TENSORBRAID_PLANNER_INTERVAL_H_
#define TENSORBRAID_PLANNER_INTERVAL_H_

#include "planner/model/machine.h"
#include "planner/model/training_graph.h"
#include "planner/simulation/measurement.h"

namespace tensorbraid::planner {

// The lowest and the highest likely speed, as factors of the predicted steps per second.
struct Interval {
  double low = 1, high = 1;
};

// The interval in which about nine of ten trainings of docs/scaling.md lie. It has three parts, which add up:
//
// - the errors of the model in these trainings. They grow with `overhead_share`, the share of the time of the cores
//   that messages take, where tasks compete for cores: threads take turns there in an order that is not simulated.
// - how far parts of the measurement differ from each other, and the share of the cores that other programs used.
// - where tasks compete, how far repeated measurements of a wake-up differ from each other.
Interval IntervalOf(const Prediction& prediction, double overhead_share, const MeasuredStep& measured,
                    const MeasuredMachine& machine);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_INTERVAL_H_
