// Gives the library's own code the nodes and graphs behind the public handles (Graph, Operation, Output).
#ifndef TENSORBRAID_GRAPH_HANDLES_H_
#define TENSORBRAID_GRAPH_HANDLES_H_

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// The friend of the public handles. Call the functions below.
class Handles {
 public:
  static Node* ToNode(const Operation& op) { return op.node_; }
  static Node* ToNode(const Output& output) { return output.node_; }
  static GraphImpl& ToImpl(const Graph& graph) { return *graph.impl_; }
};

// The node of an operation or tensor; null if the handle is not valid.
inline Node* NodeOf(const Operation& op) { return Handles::ToNode(op); }
inline Node* NodeOf(const Output& output) { return Handles::ToNode(output); }
inline GraphImpl& ImplOf(const Graph& graph) { return Handles::ToImpl(graph); }

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_HANDLES_H_
