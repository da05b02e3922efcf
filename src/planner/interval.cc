#include "planner/interval.h"

#include <algorithm>

namespace tensorbraid::planner {
namespace {

// How much longer, and how much shorter, a step was than predicted.
struct ModelError {
  double longer, shorter;
};
constexpr ModelError kAnywhere = {0.12, 0.12};
// In addition, if a step consists of messages alone: where each task has cores, and where tasks compete.
constexpr ModelError kMessages = {0.15, 0.15}, kCompetingMessages = {0.5, 0.2};

}  // namespace

Interval IntervalOf(const Prediction& prediction, double overhead_share, const MeasuredStep& measured,
                    const MeasuredMachine& machine) {
  const bool competes = prediction.tasks_compete;
  const ModelError& messages = competes ? kCompetingMessages : kMessages;
  double longer = kAnywhere.longer + overhead_share * messages.longer;
  double shorter = kAnywhere.shorter + overhead_share * messages.shorter;
  if (measured.step_ns > 0) {
    longer += std::max(0.0, measured.longest_ns / measured.step_ns - 1);
    if (measured.shortest_ns > 0) shorter += std::max(0.0, 1 - measured.shortest_ns / measured.step_ns);
    // Without the other programs, the measured steps would have been shorter.
    shorter += machine.others_share;
  }
  if (competes && prediction.cpu_ms > 0 && measured.polling_ns > 0) {
    const WakeUpCost& wake = machine.wake;
    const double of_step = prediction.messages / (prediction.cpu_ms * 1e6);
    longer += (wake.highest_busy_ns - wake.busy_ns) * of_step;
    shorter += (wake.busy_ns - wake.lowest_busy_ns) * of_step;
  }
  constexpr double kMostShorter = 0.8;
  return {.low = 1 / (1 + longer), .high = 1 / (1 - std::min(shorter, kMostShorter))};
}

}  // namespace tensorbraid::planner
