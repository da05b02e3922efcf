// What would make a planned training faster.
#ifndef TENSORBRAID_PLANNER_ADVICE_H_
#define TENSORBRAID_PLANNER_ADVICE_H_

#include <string>
#include <vector>

#include "planner/planner.h"

namespace tensorbraid::planner {

// A change of a configuration.
struct Remedy {
  std::string change;  // "2 PS", "--wire=ps:bfloat16"
  double gain = 1;     // examples per second, divided by those without the change
};

// Plans the changes that may help against the bound of `row`, such as more servers. `more_servers` is the number of
// servers to try. Each change is simulated as a row of a table is, so its gain is that between two tables. Leaves out
// changes that cannot be planned. The most helpful one comes first.
std::vector<Remedy> Remedies(const PlanInput& input, const PlanRow& row, int more_servers);

// One sentence, without a full stop: what bounds the configuration, which changes make it faster, by how much, and
// which do not.
std::string Advice(const PlanRow& row, const std::vector<Remedy>& remedies);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_ADVICE_H_
