#include "planner/simulation/measurement.h"

#include <algorithm>

#include "planner/simulation/machines.h"

namespace tensorbraid::planner {
namespace {

// A resource that is nearly always in use bounds the whole cluster; otherwise the largest part of a step does.
Bound BoundOf(const Prediction& p) {
  constexpr double kFull = 0.9;
  if (p.server_link_use > kFull && p.server_link_use >= p.worker_link_use) return Bound::kServerLink;
  if (p.worker_link_use > kFull) return Bound::kWorkerLink;
  const double rest = 1 - p.compute_share - p.straggler_share;
  if (p.server_cpu_use > kFull && rest > p.compute_share) return Bound::kServerCpu;
  if (p.compute_share >= rest && p.compute_share >= p.straggler_share) return Bound::kCompute;
  if (p.straggler_share >= rest) return Bound::kStragglers;
  const double links = std::max(p.server_link_use, p.worker_link_use);
  if (links < 0.3 && p.server_cpu_use < 0.5) return Bound::kMessages;
  if (p.server_cpu_use > links) return Bound::kServerCpu;
  return p.server_link_use >= p.worker_link_use ? Bound::kServerLink : Bound::kWorkerLink;
}

}  // namespace

std::string_view BoundName(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute";
    case Bound::kWorkerLink:
      return "worker link";
    case Bound::kServerLink:
      return "PS link";
    case Bound::kServerCpu:
      return "PS CPU";
    case Bound::kStragglers:
      return "stragglers";
    case Bound::kMessages:
      return "messages";
  }
  return "";
}

void Measurement::AddStep(const Step& step) {
  used_steps_ += !step.dropped;
  times_ns_.push_back(step.ns);
  step_ns_ += step.ns;
  compute_ns_ += step.compute_ns;
  straggler_ns_ += step.straggler_ns;
}

void Measurement::AddStaleness(int64_t staleness) {
  ++stale_updates_;
  staleness_ += static_cast<double>(staleness);
  max_staleness_ = std::max(max_staleness_, staleness);
}

Prediction Measurement::Result(double ns, int64_t updates, int gradients, double batch,
                               SimulatedMachines* machines) const {
  Prediction p;
  if (times_ns_.empty() || ns <= 0) return p;
  const auto steps = static_cast<double>(times_ns_.size());
  std::vector<double> times = times_ns_;
  std::nth_element(times.begin(), times.begin() + static_cast<int64_t>(times.size() / 2), times.end());
  p.step_ms = times[times.size() / 2] / 1e6;
  p.updates_per_s = static_cast<double>(updates) / ns * 1e9;
  p.steps_per_s = gradients > 0 ? p.updates_per_s * gradients : steps / ns * 1e9;
  p.examples_per_s = p.steps_per_s * batch;
  p.compute_share = compute_ns_ / step_ns_;
  p.straggler_share = straggler_ns_ / step_ns_;
  p.worker_link_use = machines->WorkerLinkUse();
  p.server_link_use = machines->ServerLinkUse();
  p.server_cpu_use = machines->ServerCpuUse();
  p.cpu_ms = machines->BusyNs() / steps / 1e6;
  p.messages = static_cast<double>(machines->Messages()) / steps;
  p.tasks_compete = machines->TasksCompete();
  if (stale_updates_ > 0) p.mean_staleness = staleness_ / static_cast<double>(stale_updates_);
  p.max_staleness = max_staleness_;
  p.dropped_share = 1 - static_cast<double>(used_steps_) / steps;
  p.bound = BoundOf(p);
  return p;
}

}  // namespace tensorbraid::planner
