// Joining the ends of an extracted graph.
#ifndef TENSORBRAID_GRAPH_CONNECT_H_
#define TENSORBRAID_GRAPH_CONNECT_H_

#include <memory>

#include "tensorbraid/graph.h"

namespace tensorbraid {

// A copy of `graph` (of ExtractSubgraph) in which what is fetched goes where something was fed: the value of
// _Retval `num_fetches` + k takes the place of _Arg `num_feeds` + k, for every k, and neither is there any more.
// InvalidArgument when that would close a cycle, naming a node on it, or when dtypes differ.
StatusOr<std::unique_ptr<Graph>> ConnectEnds(const Graph& graph, int num_feeds, int num_fetches);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_CONNECT_H_
