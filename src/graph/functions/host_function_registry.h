// The functions of this process that steps can call. A node names its function by a token.
#ifndef TENSORBRAID_GRAPH_FUNCTIONS_HOST_FUNCTION_REGISTRY_H_
#define TENSORBRAID_GRAPH_FUNCTIONS_HOST_FUNCTION_REGISTRY_H_

#include <memory>
#include <string>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/host_function.h"

namespace tensorbraid {

// Registers a function, which lives as long as the graph: for the body of a library function, as long as the graph
// around it. Returns the token, which no other process uses. Thread-safe.
std::string AddHostFunction(Graph& graph, HostFunction function);

// The function with this token; null if this process has none. Thread-safe.
std::shared_ptr<const HostFunction> FindHostFunction(const std::string& token);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FUNCTIONS_HOST_FUNCTION_REGISTRY_H_
