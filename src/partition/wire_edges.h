// Finds the tensors that travel between tasks in a wire type (tensorbraid/core/wire.h).
#ifndef TENSORBRAID_PARTITION_WIRE_EDGES_H_
#define TENSORBRAID_PARTITION_WIRE_EDGES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/model/node.h"
#include "tensorbraid/core/wire.h"

namespace tensorbraid {

// Wire types, keyed by job, for variables and accumulators whose own attributes (graph/model/wire_attrs.h) leave them
// open.
using JobWireTypes = std::map<std::string, WireTypes>;

// How the sender of an edge between tasks encodes the tensor.
struct WireEdge {
  Wire wire = Wire::kFloat32;
  std::string residual;  // name of the resource in which the sender keeps what the encoding loses; "": nowhere
};

class WireEdges {
 public:
  // Finds the edges of `graph`, in which every node has a device. `tasks` are the tasks of the nodes, by node id.
  // InvalidArgument, which names the node, for attributes without valid values.
  static StatusOr<WireEdges> Find(const Graph& graph, const std::vector<std::string>& tasks, const JobWireTypes& jobs);
  // The encoding for input `input` of a node; null if the tensor travels unchanged.
  const WireEdge* At(const Node& node, int input) const;

 private:
  std::map<std::pair<int, int>, WireEdge> edges_;  // keyed by id of the consumer and number of its input
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_PARTITION_WIRE_EDGES_H_
