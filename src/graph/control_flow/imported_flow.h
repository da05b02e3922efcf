// The branches and loops of nodes that come from a GraphDef. A GraphDef has the nodes of a conditional or a loop, but
// does not say what belongs to it. This is found from the nodes themselves: the Switch through which a tensor enters a
// branch, the Merge at the end of a conditional, and the Enter, Merge, Switch, NextIteration and Exit of a loop.
#ifndef TENSORBRAID_GRAPH_CONTROL_FLOW_IMPORTED_FLOW_H_
#define TENSORBRAID_GRAPH_CONTROL_FLOW_IMPORTED_FLOW_H_

#include "tensorbraid/core/status.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Gives each node that is in a branch or a loop, and has no FlowContext, its FlowContext. Adds no node. Does nothing if
// no node with control flow was imported since the last call. A node whose inputs are in branches that do not contain
// one another gets no context. REQUIRES: as for building the graph, one thread at a time.
void FindImportedFlow(Graph& graph);

// Adds what the contexts lack before nodes can be added to them: an importer may leave out the Exit of a value that
// nothing uses, and a branch may have no node for others to wait for. Returns the errors of adding nodes.
Status CompleteImportedFlow(Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_CONTROL_FLOW_IMPORTED_FLOW_H_
