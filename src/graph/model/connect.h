// Connects fetched tensors to fed ones within an extracted graph.
#ifndef TENSORBRAID_GRAPH_MODEL_CONNECT_H_
#define TENSORBRAID_GRAPH_MODEL_CONNECT_H_

#include <memory>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Returns a copy of `graph` (made by ExtractSubgraph) with connections: for every k >= 0, the consumers of _Arg
// `num_feeds` + k get the input of _Retval `num_fetches` + k instead, and both of these nodes are removed.
// InvalidArgument if a connection would close a cycle (the error names a node on it) or its dtypes differ.
StatusOr<std::unique_ptr<Graph>> ConnectEnds(const Graph& graph, int num_feeds, int num_fetches);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_CONNECT_H_
