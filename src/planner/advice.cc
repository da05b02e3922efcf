#include "planner/advice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid::planner {
namespace {

constexpr double kHelps = 1.05;  // smaller gains are less than the model can tell

// Tries changes of one row.
class Trials {
 public:
  Trials(const PlanInput& input, const PlanRow& row) : input_(input), row_(row) {}

  void Try(std::string change, const Configuration& configuration) { Try(std::move(change), input_, configuration); }
  void Try(std::string change, const PlanInput& input, const Configuration& configuration) {
    const auto changed = PlanOne(input, configuration);
    const double now = row_.prediction.examples_per_s;
    if (!changed.ok() || now <= 0) return;
    remedies_.push_back({std::move(change), changed->prediction.examples_per_s / now});
  }
  std::vector<Remedy> Take() {
    std::stable_sort(remedies_.begin(), remedies_.end(),
                     [](const Remedy& a, const Remedy& b) { return a.gain > b.gain; });
    return std::move(remedies_);
  }

 private:
  const PlanInput& input_;
  const PlanRow& row_;
  std::vector<Remedy> remedies_;
};

void TryServers(const Configuration& now, int servers, Trials* trials) {
  Configuration changed = now;
  changed.servers = servers;
  trials->Try(StrCat(servers, " PS"), changed);
  if (now.placement == Placement::kEven) return;
  changed.placement = Placement::kEven;
  trials->Try(StrCat(servers, " PS with --placement=even"), changed);
}

void TryWires(const Configuration& now, Trials* trials) {
  const std::pair<const char*, Wire> wires[] = {{"--wire=ps:bfloat16", Wire::kBFloat16},
                                                {"--wire=ps:int8", Wire::kInt8}};
  for (const auto& [flag, wire] : wires) {
    Configuration changed = now;
    changed.wire = wire;
    if (changed.wire != now.wire) trials->Try(flag, changed);
  }
}

void TryLargerBatch(const PlanRow& row, Trials* trials) {
  const double batch = row.prediction.steps_per_s > 0 ? row.prediction.examples_per_s / row.prediction.steps_per_s : 0;
  Configuration changed = row.configuration;
  changed.batch = 2 * std::llround(batch);
  if (changed.batch > 2) trials->Try(StrCat("--batch=", changed.batch), changed);
}

void TryFasterLinks(const PlanInput& input, const Configuration& now, Trials* trials) {
  PlanInput changed = input;
  changed.hardware.link.in_bytes_per_s *= 2;
  changed.hardware.link.out_bytes_per_s *= 2;
  trials->Try("links of twice the speed", changed, now);
}

const char* WhatBounds(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "the workers compute nearly all the time";
    case Bound::kWorkerLink:
      return "the links of the workers are the bound";
    case Bound::kServerLink:
      return "the links of the parameter servers are the bound";
    case Bound::kServerCpu:
      return "the processors of the parameter servers are the bound";
    case Bound::kStragglers:
      return "the workers wait for the slowest of them";
    case Bound::kMessages:
      return "the steps are so short that the messages take most of the time";
  }
  return "";
}

std::string Times(double gain) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2f times as fast", gain);
  return text;
}

}  // namespace

std::vector<Remedy> Remedies(const PlanInput& input, const PlanRow& row, int more_servers) {
  const Configuration& now = row.configuration;
  Trials trials(input, row);
  Configuration changed = now;
  switch (row.prediction.bound) {
    case Bound::kCompute:
      changed.workers = 2 * now.workers;
      trials.Try(StrCat(changed.workers, " workers"), changed);
      break;
    case Bound::kServerLink:
      TryServers(now, more_servers, &trials);
      TryWires(now, &trials);
      TryFasterLinks(input, now, &trials);
      break;
    case Bound::kWorkerLink:
      TryWires(now, &trials);
      TryLargerBatch(row, &trials);
      TryFasterLinks(input, now, &trials);
      break;
    case Bound::kServerCpu: {
      TryServers(now, more_servers, &trials);
      PlanInput more_cores = input;
      more_cores.hardware.host_cores *= 2;
      trials.Try("twice as many cores", more_cores, now);
      break;
    }
    case Bound::kStragglers:
      changed.spares = now.spares + 1;
      if (now.mode == Mode::kSync && changed.spares < now.workers) {
        trials.Try(StrCat("--spares=", changed.spares), changed);
      }
      changed = now;
      changed.mode = Mode::kAsync;
      changed.spares = 0;
      if (now.mode != Mode::kAsync) trials.Try("--mode=async", changed);
      break;
    case Bound::kMessages:
      TryLargerBatch(row, &trials);
      break;
  }
  return trials.Take();
}

std::string Advice(const PlanRow& row, const std::vector<Remedy>& remedies) {
  std::vector<std::string> helps, does_not;
  for (const Remedy& remedy : remedies) {
    if (remedy.gain >= kHelps) {
      helps.push_back(StrCat(remedy.change, " (", Times(remedy.gain), ")"));
    } else {
      does_not.push_back(remedy.change);
    }
  }
  std::string text = WhatBounds(row.prediction.bound);
  if (!helps.empty()) text += StrCat(": what helps is ", StrJoin(helps, ", "));
  if (!does_not.empty())
    text += StrCat(helps.empty() ? ", but " : "; ", StrJoin(does_not, ", "),
                   does_not.size() == 1 ? " does not help" : " do not help");
  return text;
}

}  // namespace tensorbraid::planner
