// Divides nodes into sets that can each run as one node.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_CONVEX_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_CONVEX_H_

#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Returns the set of each node, indexed by id: numbers from 0 in the order of the sets' first nodes, or -1 for a node
// that is in no set. `kind_of` has a number for each node, indexed by id. Nodes of a set have the same kind; a node
// with a negative kind is in no set.
//
// If each set becomes one node, with the edges of its nodes to other nodes, then the graph still has no cycle. Edges
// are data and control edges, but not back edges; besides, each Exit of a loop depends on all nodes of the loop, since
// a value may get to it in several iterations. For that, nodes have levels: an edge from a node of a set to a node
// of another kind, or of no kind, leads to a higher level, and every other edge leads to the same level or a higher
// one. A set is the nodes of one kind on one level. A cycle through sets would stay on one level, so it would never
// leave a set that it has entered.
std::vector<int> ConvexSets(const Graph& graph, const std::vector<int>& kind_of);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_CONVEX_H_
