// Turns the graph of a training into the work and the messages of one step.
#ifndef TENSORBRAID_PLANNER_MODEL_TRAINING_GRAPH_H_
#define TENSORBRAID_PLANNER_MODEL_TRAINING_GRAPH_H_

#include <map>
#include <string>
#include <vector>

#include "partition/wire_edges.h"
#include "planner/model/step_program.h"
#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::planner {

// What was measured of a step of one worker with one parameter server, or of a program without a cluster.
struct MeasuredStep {
  bool local = false;                               // without a cluster
  std::map<std::string, double> node_ns = {};       // time of a node's kernel
  std::map<std::string, double> tensor_bytes = {};  // size of an output, keyed by "weights:0"
  // Cores that kernels which take long used on average.
  double threads = 1;
  // What the worker spends between two steps, outside of Session::Run.
  double between_steps_ns = 0;
  // The time of the worker's cores in a step, with what it does between two steps and without polling.
  double cpu_ns = 0;
  // The time of the server's cores for a step, without polling; 0: not known.
  double server_cpu_ns = 0;
  // What the worker and the server polled for messages in a step.
  double polling_ns = 0, server_polling_ns = 0;
  // How long a step takes beyond what the simulation explains, without using a core (Calibrate in planner/planner.h).
  double idle_ns = 0;
  // How the time of a step varies: the standard deviation of its logarithm.
  double sigma = 0;
  // The time of a step, from the start of one to the start of the next.
  double step_ns = 0;
  // The shortest and the longest mean of several parts of the measurement; 0: not known.
  double shortest_ns = 0, longest_ns = 0;
};

// The graph of a training, as one worker builds it, and its step.
struct TrainingGraph {
  struct Feed {
    std::string tensor;  // "images:0"
    Shape shape;         // as far as it is known
  };
  std::string graph_def;  // binary
  std::vector<Feed> feeds;
  std::vector<std::string> fetches;  // tensors
  std::vector<std::string> targets;  // operations
  MeasuredStep measured = {};        // empty if nothing was measured
};

// Reads a GraphDef, in binary or in text form. The feeds are the placeholders that `train_op` needs. NotFound if the
// file does not exist; InvalidArgument if it is not a GraphDef, or if `train_op` is not one of its operations, or is ""
// and cannot be guessed: the message lists candidates.
StatusOr<TrainingGraph> ReadTrainingGraph(const std::string& path, const std::string& train_op);

// The speed of what computes.
struct DeviceSpeed {
  double flops_per_s = 50e9;  // of one core, or of a GPU
  double bytes_per_s = 20e9;
  double op_ns = 0;  // what it costs to start an op
  double cores = 1;
  bool is_gpu = false;
};

struct GraphOptions {
  int servers = 1;
  Placement placement = Placement::kRoundRobin;
  WireTypes wire = {};  // of variables that have none of their own
  int64_t batch = 0;    // examples of a step: the first dimension of what is fed; 0: as measured, or as in the graph
  std::map<std::string, Shape> shapes = {};  // of tensors whose shapes the graph does not know, keyed by "x" or "x:0"
  // If the speeds are not measured, or another device shall be used.
  const DeviceSpeed* worker_device = nullptr;
  const DeviceSpeed* server_device = nullptr;
};

// Places the graph on one worker and `options.servers` parameter servers, rewrites and partitions it as a session does
// (placement/, executor/optimize.h, partition/), and returns what each task does and sends. Kernels take the measured
// time, which is scaled if the batch is another one, or the time that their cost functions estimate
// (runtime/kernel/cost.h).
//
// InvalidArgument, naming the tensors, if shapes are not known that the sizes of messages or the cost of a kernel
// depend on; and if the graph trains synchronously, since the accumulators of such a graph depend on the number of
// workers. Otherwise the errors of placement and partition.
StatusOr<StepProgram> ProgramOf(const TrainingGraph& graph, const GraphOptions& options);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_TRAINING_GRAPH_H_
