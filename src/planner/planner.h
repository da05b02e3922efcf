// Plans a training: predicts its speed for numbers of workers, and searches for a better configuration.
#ifndef TENSORBRAID_PLANNER_PLANNER_H_
#define TENSORBRAID_PLANNER_PLANNER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/model/machine.h"
#include "planner/model/training_graph.h"
#include "planner/simulation/simulation.h"

namespace tensorbraid::planner {

// The costs of messages by gRPC and through shared memory, measured on two cores (docs/performance.md).
WayCosts GrpcCosts();
WayCosts SharedMemoryCosts();

// One way to run a training.
struct Configuration {
  int servers = 1;
  int workers = 1;
  Mode mode = Mode::kAsync;
  int spares = 0;
  Placement placement = Placement::kRoundRobin;
  WireTypes wire = {};
  int64_t batch = 0;  // 0: as measured, or as in the graph
  // Workers of a machine send one sum of their gradients, and fetch the variables once (docs/design/0029).
  bool sum_per_host = false;
};
std::string_view ModeName(Mode mode);                 // "async", "sync", "bounded"
std::string_view PlacementName(Placement placement);  // "round_robin", "least_bytes", "even"
// "float32", "bfloat16/int8" (values, gradients).
std::string WireText(const WireTypes& wire);

// What is the same for all configurations of a plan.
struct Hardware {
  double host_cores = 1;
  LinkSpeed link;  // of each machine
  int workers_per_machine = 1;
  bool one_machine = false;  // all tasks share the cores of one machine
  // With one_machine: each task has a link of its own all the same, as in network namespaces.
  bool link_per_task = false;
  WayCosts local = SharedMemoryCosts();
  WayCosts remote = GrpcCosts();
  std::optional<DeviceSpeed> worker_device, server_device;
};

struct PlanInput {
  TrainingGraph graph;
  Hardware hardware;
  TrainingModel training;  // mode and spares come from the configuration
  std::map<std::string, Shape> shapes;
  MeasuredMachine machine;  // on which the graph was measured
};

// The steps per second that one resource allows for any number of workers; 0: no limit.
struct Bounds {
  double compute = 0;      // all workers compute all the time, each on cores of its own
  double worker_link = 0;  // of all workers
  double server_link = 0;  // of the server with the most bytes
  double server_cpu = 0;   // of the server with the most work
};

struct PlanRow {
  Configuration configuration;
  Prediction prediction;
  double speed_up = 0;  // examples per second, compared with one worker that trains without a cluster
  Bounds bounds;
  // Between which a training of this configuration is expected (IntervalOf).
  double lowest_steps_per_s = 0, highest_steps_per_s = 0;
  double others_share = 0;  // MeasuredMachine::others_share
};

// The time of a step of one worker with all variables in its own process, in ns.
StatusOr<double> LocalStepNs(const PlanInput& input, int64_t batch);
// The speed of one worker with all variables in its own process: the base of speed-ups. In examples per second.
StatusOr<double> LocalExamplesPerS(const PlanInput& input, int64_t batch);

// Predicts one configuration. Errors as ProgramOf and Simulate; InvalidArgument for sum_per_host with spares, on one
// machine, or with machines that have different numbers of workers.
StatusOr<PlanRow> PlanOne(const PlanInput& input, const Configuration& configuration);

// Which configurations a search tries: all combinations.
struct SearchSpace {
  std::vector<int> servers;
  std::vector<Mode> modes;
  std::vector<WireTypes> wires;
  std::vector<Placement> placements;
  std::vector<int64_t> batches;
  std::vector<bool> sums = {false};  // sum_per_host
};
// Called before the configuration with this number, which begins with 1, is simulated, of so many.
using OnConfiguration = std::function<void(size_t number, size_t of, const Configuration&)>;
// Returns a prediction for each configuration with base.workers workers, the fastest (in examples per second) first. Of
// configurations that differ by less than 2 %, the one with fewer servers, and then the one that changes less of the
// arithmetic (float32, the batch of the program), comes first.
StatusOr<std::vector<PlanRow>> Search(const PlanInput& input, const Configuration& base, const SearchSpace& space,
                                      const OnConfiguration& begins = {});

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_PLANNER_H_
