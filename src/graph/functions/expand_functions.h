// Replaces function calls by the bodies of the functions, and functional control flow by v1 control flow.
#ifndef TENSORBRAID_GRAPH_FUNCTIONS_EXPAND_FUNCTIONS_H_
#define TENSORBRAID_GRAPH_FUNCTIONS_EXPAND_FUNCTIONS_H_

#include <memory>

#include "core/threads/still_wanted.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Where the function of a RemoteCall runs.
enum class RemoteCalls {
  kAtTheirTarget,  // on the device that the target names, which must be known now
  kOnThisTask,  // where the rest of the graph runs; a node checks in each step that the target is a device of its task
};

// Returns a copy of `graph` without function calls, or null if it has none. Calls (PartitionedCall,
// StatefulPartitionedCall, RemoteCall, SymbolicGradient, and nodes whose op is a function) are replaced by the function
// bodies. If, Case, While (and their stateless forms) and For are replaced by the bodies and Switch, Merge, Enter, Exit
// and NextIteration nodes. Calls inside bodies are replaced too, up to a nesting depth of 256.
//
// A node "inner" of a body becomes "call/inner". The control inputs of the call run before every node of the body. All
// inputs of the call have been computed before a stateful node of a function's body runs, and before a function, a
// branch or a loop reads a reference variable. A node with a control edge from the call runs after the body's outputs,
// control outputs and stateful nodes. A node of a body requests its own device. The parts that this request leaves open
// come from the device of the call. A node that takes a resource is an exception: it is left to be placed with the
// resource.
//
// InvalidArgument, naming the call, if a function does not exist, does not match the call, or calls itself, or calls
// are nested too deeply. ResourceExhausted if the expansion would add millions of nodes. Returns the error of
// `still_wanted` (core/threads/still_wanted.h), which is called at every call and at every added node.
//
// The target of a RemoteCall is the device of the call. It must be a constant, possibly passed on by Identity, Enter or
// Switch nodes. Unimplemented if it is another tensor, unless `remote_calls` is kOnThisTask.
StatusOr<std::unique_ptr<Graph>> ExpandFunctions(const Graph& graph, const StillWanted& still_wanted = nullptr,
                                                 RemoteCalls remote_calls = RemoteCalls::kAtTheirTarget);

// Whether the node is one that ExpandFunctions replaces.
bool IsFunctionCall(const Node& node);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FUNCTIONS_EXPAND_FUNCTIONS_H_
