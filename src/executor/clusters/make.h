// Turns the nodes of each program into one node.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_MAKE_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_MAKE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "executor/clusters/changing_values.h"
#include "graph/model/node.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// The nodes that a `_Cluster` node stands for. Immutable.
struct ClusterBody {
  enum class Kind : uint8_t {
    kTensor,    // in memory of the device
    kStatic,    // in host memory; a program is compiled for its value
    kFromHost,  // in host memory; copied to the device for each run
    kVariable,  // a reference or a handle
  };
  static bool IsOnHost(Kind kind) { return kind == Kind::kStatic || kind == Kind::kFromHost; }
  struct Argument {
    Output tensor;  // of `graph`
    Kind kind = Kind::kTensor;
  };
  std::shared_ptr<const Graph> graph;  // owns the nodes
  std::vector<const Node*> nodes;      // constants, then the others in the order in which they take effect
  std::vector<Argument> arguments;     // one per input of the `_Cluster` node
  std::vector<Output> results;         // of `graph`; one per output of the `_Cluster` node
  // Where steps note static arguments that change too often. Null: the host then runs the nodes.
  std::shared_ptr<ChangingValues> changing = nullptr;
};

// What messages call its program: "a program of 41 nodes that ends with 'train'".
std::string NameOf(const ClusterBody& body);
// The same for a `_Cluster` node. REQUIRES: the node is in a graph that MakeClusters has made.
std::string NameOfProgram(const Node& cluster);

// The clusters of a graph, which MakeClusters keeps with it (GraphImpl::extension). The attribute `body` of a
// `_Cluster` node is an index.
using ClusterBodies = std::vector<std::shared_ptr<const ClusterBody>>;

// The attribute by which the pass mark_clusters gives a number to the nodes that are to run as one program.
inline constexpr std::string_view kClusterMark = "_cluster";

// MakeClusters sets this attribute (a list of ints) of nodes on an accelerator: the outputs that are in host memory.
inline constexpr std::string_view kOutputsOnHost = "_outputs_on_host";

// For one task's part of a graph: returns a copy in which the nodes of each mark are one `_Cluster` node. A node
// without a mark that could run in a program becomes a cluster of its own. If the part has edges that the whole graph
// has not, the nodes of a mark may become several clusters.
//
// The other nodes on devices that run programs are then on the task's first CPU, with two exceptions: nodes that move
// whole buffers (pjrt/whole_buffers.h), and nodes that use a variable, which stay with it (on_host_kernel.h).
//
// A node that takes the next element of an iterator is on the accelerator that uses most of its outputs, wherever it
// was placed: so an iterator with a buffer copies elements ahead of the steps. The outputs that this accelerator does
// not use are in host memory.
//
// No program depends on the values that `changing` has when this is called. The nodes of a mark are then divided by the
// nodes that are in no program any more. That needs no further look at the whole graph: what connects these nodes by
// way of other nodes is on this task, since the nodes of a mark are. The programs add to `changing`, which may be null.
StatusOr<std::unique_ptr<Graph>> MakeClusters(std::shared_ptr<const Graph> graph,
                                              std::shared_ptr<ChangingValues> changing = nullptr);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_MAKE_H_
