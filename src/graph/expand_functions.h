// Replaces what calls functions by what the functions do.
#ifndef TENSORBRAID_GRAPH_EXPAND_FUNCTIONS_H_
#define TENSORBRAID_GRAPH_EXPAND_FUNCTIONS_H_

#include <memory>

#include "tensorbraid/graph.h"

namespace tensorbraid {

// A copy of `graph` in which calls of library functions (PartitionedCall, StatefulPartitionedCall, RemoteCall,
// SymbolicGradient, nodes whose op is a function) have been replaced by the bodies, and If, Case, While and their
// stateless forms, and For, by bodies between Switch, Merge, Enter, Exit and NextIteration; to any depth. Null when
// there is nothing to replace.
//
// A node "inner" of a body becomes "call/inner". What the call waits for (control edges) comes before every node of the
// body, and what waits for the call comes after the body's outputs, control outputs and stateful nodes. A node of a
// body asks for its own device, and for the call's where it leaves parts open.
//
// InvalidArgument, naming the call, for functions that do not exist, do not fit, or call themselves;
// ResourceExhausted when the result would have millions of nodes.
StatusOr<std::unique_ptr<Graph>> ExpandFunctions(const Graph& graph);

// Whether ExpandFunctions replaces this node.
bool IsFunctionCall(const Node& node);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_EXPAND_FUNCTIONS_H_
