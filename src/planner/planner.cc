#include "planner/planner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/strings.h"
#include "planner/interval.h"
#include "planner/model/placed_step.h"
#include "planner/model/summed_step.h"

namespace tensorbraid::planner {
namespace {

GraphOptions OptionsFor(const PlanInput& input, const Configuration& c) {
  return {.servers = c.servers,
          .placement = c.placement,
          .wire = c.wire,
          .batch = c.batch,
          .shapes = input.shapes,
          .worker_device = input.hardware.worker_device ? &*input.hardware.worker_device : nullptr,
          .server_device = input.hardware.server_device ? &*input.hardware.server_device : nullptr};
}

ClusterModel ClusterFor(const Hardware& hardware, int servers, int workers, int per_machine) {
  if (!hardware.one_machine) {
    const int machines = (workers + per_machine - 1) / per_machine;
    ClusterModel cluster = SeparateMachines(servers, machines, hardware.host_cores, hardware.link, hardware.remote);
    cluster.local = hardware.local;
    const std::vector<ClusterModel::TaskPlace> places = cluster.workers;
    cluster.workers.clear();
    for (int w = 0; w < workers; ++w) cluster.workers.push_back(places[w / per_machine]);
    return cluster;
  }
  ClusterModel cluster = OneMachine(servers, workers, hardware.host_cores, hardware.local);
  cluster.remote = hardware.remote;
  cluster.links = {hardware.link};
  if (!hardware.link_per_task) return cluster;
  cluster.links.clear();
  for (auto* places : {&cluster.servers, &cluster.workers}) {
    for (auto& place : *places) {
      place.link = static_cast<int>(cluster.links.size());
      cluster.links.push_back(hardware.link);
    }
  }
  return cluster;
}

// `machines` is the number of links of workers.
Bounds BoundsOf(const StepProgram& program, const Hardware& hardware, int workers, int machines,
                const Stragglers& stragglers) {
  Bounds b;
  const double worker_ns = program.ComputeNs(0) * stragglers.Mean() + program.between_steps_ns + program.idle_ns;
  if (worker_ns > 0) b.compute = workers * 1e9 / worker_ns;
  const auto limit = [](double* bound, double steps_per_s) {
    *bound = *bound == 0 ? steps_per_s : std::min(*bound, steps_per_s);
  };
  const bool crosses_links = !hardware.one_machine || hardware.link_per_task;
  double in = 0, out = 0;
  for (int s = 1; s <= program.servers; ++s) {
    const double read = program.BytesBetween(s, 0), written = program.BytesBetween(0, s);
    in += read;
    out += written;
    if (crosses_links && hardware.link.out_bytes_per_s > 0 && read > 0) {
      limit(&b.server_link, hardware.link.out_bytes_per_s / read);
    }
    if (crosses_links && hardware.link.in_bytes_per_s > 0 && written > 0) {
      limit(&b.server_link, hardware.link.in_bytes_per_s / written);
    }
    const WayCosts& way = crosses_links ? hardware.remote : hardware.local;
    double ns = 0;
    for (const Activity& a : program.activities) ns += a.task == s ? a.ns * a.threads : 0;
    if (!way.shares_memory) ns += read * way.send_byte_ns + written * way.receive_byte_ns;
    if (ns > 0) limit(&b.server_cpu, hardware.host_cores * 1e9 / ns);
  }
  if (crosses_links && hardware.link.in_bytes_per_s > 0 && in > 0) {
    limit(&b.worker_link, machines * hardware.link.in_bytes_per_s / in);
  }
  if (crosses_links && hardware.link.out_bytes_per_s > 0 && out > 0) {
    limit(&b.worker_link, machines * hardware.link.out_bytes_per_s / out);
  }
  return b;
}

}  // namespace

// A push of 4 bytes by gRPC takes 36 us, of which two messages at two ends make four; 100 MB take 22 to 25 ms of two
// cores. Through shared memory 4 bytes take 6 us.
WayCosts GrpcCosts() { return {.latency_ns = 2000, .message_ns = 8000, .send_byte_ns = 0.10, .receive_byte_ns = 0.15}; }
WayCosts SharedMemoryCosts() { return {.latency_ns = 500, .message_ns = 1200, .shares_memory = true}; }

std::string_view ModeName(Mode mode) {
  return mode == Mode::kAsync ? "async" : mode == Mode::kSync ? "sync" : "bounded";
}
std::string_view PlacementName(Placement placement) {
  return placement == Placement::kRoundRobin   ? "round_robin"
         : placement == Placement::kLeastBytes ? "least_bytes"
                                               : "even";
}
std::string WireText(const WireTypes& wire) {
  const auto name = [](Wire w) { return w == Wire::kDefault ? std::string("float32") : std::string(WireName(w)); };
  return wire.parameters == wire.gradients ? name(wire.gradients)
                                           : StrCat(name(wire.parameters), "/", name(wire.gradients));
}

namespace {

double LocalNs(const StepProgram& program) {
  double ns = program.between_steps_ns + program.idle_ns + program.ComputeNs(0);
  for (const Activity& a : program.activities) ns += a.task != 0 ? a.ns : 0;
  return ns;
}

// The share of the CPU time of a step that neither kernels nor the program between two steps use. The messages use it.
double OverheadShare(const StepProgram& program, const Prediction& prediction) {
  double ns = program.between_steps_ns * program.workers;
  for (const Activity& a : program.activities) ns += a.task == 0 && program.has_device ? 0 : a.ns * a.threads;
  return prediction.cpu_ms > 0 ? std::clamp(1 - ns / (prediction.cpu_ms * 1e6), 0.0, 1.0) : 0;
}

}  // namespace

StatusOr<double> LocalStepNs(const PlanInput& input, int64_t batch) {
  TF_ASSIGN_OR_RETURN(const StepProgram program, ProgramOf(input.graph, OptionsFor(input, {.batch = batch})));
  return LocalNs(program);
}

StatusOr<double> LocalExamplesPerS(const PlanInput& input, int64_t batch) {
  TF_ASSIGN_OR_RETURN(const StepProgram program, ProgramOf(input.graph, OptionsFor(input, {.batch = batch})));
  const double ns = LocalNs(program);
  return ns > 0 ? program.batch * 1e9 / ns : 0;
}

StatusOr<PlanRow> PlanOne(const PlanInput& input, const Configuration& c) {
  PlanRow row;
  row.configuration = c;
  TF_ASSIGN_OR_RETURN(StepProgram program, ProgramOf(input.graph, OptionsFor(input, c)));
  TrainingModel training = input.training;
  training.mode = c.mode;
  training.spares = c.spares;
  int workers = c.workers, per_machine = std::min(c.workers, input.hardware.workers_per_machine);
  const int summed = c.sum_per_host ? per_machine : 1;
  if (c.sum_per_host) {
    if (c.spares > 0 || input.hardware.one_machine) {
      return InvalidArgument("sums per host are planned without spare workers, and for machines of their own");
    }
    if (workers % summed != 0) {
      return InvalidArgument("sums per host need the same number of workers on each machine; ", workers,
                             " workers cannot be divided among machines with ", summed);
    }
    program = SummedStep(program, summed);
    workers /= summed;
    per_machine = 1;
  }
  TF_ASSIGN_OR_RETURN(row.prediction,
                      Simulate(program, ClusterFor(input.hardware, c.servers, workers, per_machine), training));
  row.bounds =
      BoundsOf(program, input.hardware, workers, (workers + per_machine - 1) / per_machine, training.stragglers);
  // Each of the workers makes a step when its machine does.
  for (double* rate : {&row.prediction.steps_per_s, &row.bounds.compute, &row.bounds.worker_link,
                       &row.bounds.server_link, &row.bounds.server_cpu}) {
    *rate *= summed;
  }
  const Interval interval =
      IntervalOf(row.prediction, OverheadShare(program, row.prediction), input.graph.measured, input.machine);
  row.lowest_steps_per_s = row.prediction.steps_per_s * interval.low;
  row.highest_steps_per_s = row.prediction.steps_per_s * interval.high;
  row.others_share = input.machine.others_share;
  TF_ASSIGN_OR_RETURN(const double local, LocalExamplesPerS(input, c.batch));
  row.speed_up = local > 0 ? row.prediction.examples_per_s / local : 0;
  return row;
}

namespace {

std::vector<std::pair<int64_t, bool>> BatchesAndSums(const std::vector<int64_t>& batches,
                                                     const std::vector<bool>& sums) {
  std::vector<std::pair<int64_t, bool>> pairs;
  for (const int64_t batch : batches) {
    for (const bool sum : sums) pairs.emplace_back(batch, sum);
  }
  return pairs;
}

std::vector<Configuration> ConfigurationsOf(const SearchSpace& space, const Configuration& base) {
  std::vector<Configuration> all;
  for (const int servers : space.servers) {
    for (const Mode mode : space.modes) {
      for (const WireTypes& wire : space.wires) {
        for (const Placement placement : space.placements) {
          if (servers == 1 && placement != space.placements.front()) continue;  // they do not differ
          for (const auto& [batch, sums] : BatchesAndSums(space.batches, space.sums)) {
            Configuration& c = all.emplace_back(base);
            c.sum_per_host = sums;
            c.servers = servers;
            c.mode = mode;
            c.spares = mode == Mode::kSync ? base.spares : 0;
            c.wire = wire;
            c.placement = placement;
            c.batch = batch;
          }
        }
      }
    }
  }
  return all;
}

}  // namespace

StatusOr<std::vector<PlanRow>> Search(const PlanInput& input, const Configuration& base, const SearchSpace& space,
                                      const OnConfiguration& begins) {
  const std::vector<Configuration> configurations = ConfigurationsOf(space, base);
  std::vector<PlanRow> rows;
  for (const Configuration& configuration : configurations) {
    if (begins) begins(rows.size() + 1, configurations.size(), configuration);
    TF_ASSIGN_OR_RETURN(rows.emplace_back(), PlanOne(input, configuration));
  }
  // Fewer servers and unchanged arithmetic come first in the lists of the space, so a stable sort keeps them first.
  // Speeds are compared on a scale of 2 %, which makes the comparison transitive.
  const auto scale = [](const PlanRow& row) {
    return std::floor(std::log(std::max(row.prediction.examples_per_s, 1e-9)) / std::log(1.02));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const PlanRow& a, const PlanRow& b) { return scale(a) > scale(b); });
  return rows;
}

}  // namespace tensorbraid::planner
