// What the graph of a function body knows while the function is being built (tensorbraid/graph/library_function.h).
#ifndef TENSORBRAID_GRAPH_FUNCTIONS_FUNCTION_SCOPE_H_
#define TENSORBRAID_GRAPH_FUNCTIONS_FUNCTION_SCOPE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/model/handles.h"

namespace tensorbraid {

// An extension of the graph (GraphImpl::extension). Empty if the graph is not the body of a function, or the function
// is finished.
struct FunctionScope {
  GraphImpl* outer = nullptr;
  // Returns the tensor of the body that stands for a tensor of the outer graph.
  std::function<StatusOr<Output>(const Output&)> capture;
  // Rises with each body that is begun in the process.
  int64_t order = 0;
};

// Returns the tensor to use in `graph` for `output`: itself if it belongs to `graph`, or the tensor that captures it if
// `graph` is the body of a function and `output` belongs to a graph around it. Else the error of
// GraphImpl::CheckOwns.
StatusOr<Output> UsableIn(GraphImpl& graph, const Output& output);

// Returns the function body inside of `graph`, or begun after the body `graph`, to which one of the tensors belongs;
// null if there is none. A node with this input goes into that body, also if another operand has led to `graph`: in a
// body, "outer * arg" is a node of the body.
GraphImpl* BodyInside(GraphImpl& graph, const std::vector<Output>& outputs);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FUNCTIONS_FUNCTION_SCOPE_H_
