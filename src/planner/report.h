// Prints plans: for people, for programs, and as a picture.
#ifndef TENSORBRAID_PLANNER_REPORT_H_
#define TENSORBRAID_PLANNER_REPORT_H_

#include <string>
#include <vector>

#include "planner/planner.h"

namespace tensorbraid::planner {

// A table with a row for each number of workers, and what bounds each.
std::string ScalingTable(const std::vector<PlanRow>& rows);
// A table of the first `count` rows of a search, and which bounds the best.
std::string SearchTable(const std::vector<PlanRow>& rows, size_t count);
// One line of JSON for each row. Times are in ms, bounds in steps per second of all workers (0: no bound).
std::string JsonLines(const std::vector<PlanRow>& rows);
// An SVG image of the speed-up over the number of workers, with the line that each bound would allow. REQUIRES: the
// rows differ in their numbers of workers only, and have these in increasing order.
std::string SpeedUpChart(const std::vector<PlanRow>& rows);
// One or two lines: what was measured of the step and of the machine, and what the model alone gives for the step.
std::string MeasuredText(const MeasuredStep& measured, const MeasuredMachine& machine, double model_ns);
// A line with the figure if other programs used more than a tenth of the cores during the measurement; "" otherwise.
std::string BusyWarning(const MeasuredMachine& machine);
// A line that says from how many workers on the tasks of a machine compete for its cores, so that predictions are less
// sure; "" if they do in no row.
std::string Caution(const std::vector<PlanRow>& rows);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_REPORT_H_
