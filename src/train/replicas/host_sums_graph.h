// The nodes with which a worker exchanges values and gradients through the HostSums of its task (docs/design/0029).
#ifndef TENSORBRAID_TRAIN_REPLICAS_HOST_SUMS_GRAPH_H_
#define TENSORBRAID_TRAIN_REPLICAS_HOST_SUMS_GRAPH_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "train/replicas/host_plan.h"
#include "train/replicas/host_routes.h"

namespace tensorbraid {

// What synchronous (sync_sums_graph.h) and asynchronous (async_sums_graph.h) training have in common. As always while
// building, mistakes are recorded in Graph::status().
class HostSumsGraph {
 public:
  // The types and shapes of the tensors that pass through HostSums, and how those of several workers are joined (see
  // _TakeHostSums).
  struct Tensors {
    std::vector<DType> types = {};
    std::vector<Shape> shapes = {};
    std::vector<std::string> joins = {};
    void Add(DType type, Shape shape, std::string join = "sum") {
      types.push_back(type);
      shapes.push_back(std::move(shape));
      joins.push_back(std::move(join));
    }
  };
  struct Options {
    HostPlan plan;
    std::string prefix = "";  // begins the names of what the tasks share
    int64_t spares = 0;       // the number of workers that a step does not need
    bool async = false;
  };

  HostSumsGraph(const HostSumsGraph&) = delete;
  HostSumsGraph& operator=(const HostSumsGraph&) = delete;

 protected:
  // `anchor` is on the device of the worker. The first values are those of `variables`. `if_dropped` is the outcome of
  // gradients that HostSums drops.
  HostSumsGraph(Graph& g, Options options, const Operation& anchor, std::vector<Variable> variables, Tensors values,
                Tensors gradients, const std::vector<int64_t>& if_dropped);
  ~HostSumsGraph() = default;

  static constexpr int kFirst = 2;  // the first of the values, or sums, among the outputs of the nodes that have them

  static Output ConstantOf(Graph& g, Tensor value);
  NodeBuilder Here(const char* op, const char* name);  // a node on the worker
  Output Sums(const std::string& shared_name) const;   // a handle, placed by the open scopes
  // Waits for values that are later than the stamp `after` or, unless `of_epoch` is invalid, of another epoch.
  Operation Read(const Output& sums, const Output& of_epoch, const Output& after, bool values, const char* name);
  // The epoch and the stamp of what the sums have. Does not wait.
  Operation Latest(const Output& sums);
  // Lets the nodes on the worker that exist so far use the values of the HostSums instead of reading the variables.
  // Does not change reads in loops and branches, and reads with control dependencies.
  void UseValues();
  // Adds the gradients of this worker's step, and waits until it is known what became of them.
  Output Add(std::vector<Output> gradients);
  // The parts of a route: takes the own sums; reports what became of them; stores values in the own HostSums.
  Operation Take();
  Operation Report(const Output& outcomes, const std::vector<Operation>& after = {});
  Operation Store(const Output& epoch, const Output& stamp, const std::vector<Output>& values);
  // Adds what the background needs, apart from the epochs, which tell whether the first worker of the host has values
  // of the present parameter servers.
  HostRouteOps Routes(const HostRoute& servers);

  Graph& g_;
  const Options options_;
  const Operation anchor_;
  const std::vector<Variable> variables_;
  const Tensors values_, gradients_;
  Output own_;           // the HostSums of this task
  Output sums_of_host_;  // those of the first worker of the host; set by Routes, unless it is this worker
  Operation read_;       // of the values that a step uses

 private:
  HostRoute RouteByHost();

  Output if_dropped_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_HOST_SUMS_GRAPH_H_
