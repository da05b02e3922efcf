// Finds the node or graph behind a public handle (Graph, Operation, Output), and makes handles of nodes. For the
// library's own code.
#ifndef TENSORBRAID_GRAPH_MODEL_HANDLES_H_
#define TENSORBRAID_GRAPH_MODEL_HANDLES_H_

#include <memory>
#include <source_location>
#include <string_view>
#include <utility>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Accesses the private members of the public handles, whose friend it is. Other code calls the functions below.
class Handles {
 public:
  static Node* ToNode(const Operation& op) { return op.node_.get(); }
  static Node* ToNode(const Output& output) { return output.node_.get(); }
  static const std::shared_ptr<GraphImpl>& ToImpl(const Graph& graph) { return graph.impl_; }
  static Operation ToOperation(std::shared_ptr<Node> node) { return Operation(std::move(node)); }
  static Output ToOutput(std::shared_ptr<Node> node, int index) { return Output(std::move(node), index); }
};

// The end of messages about a graph that has been destroyed.
inline constexpr std::string_view kGraphLifetime = "a Graph must outlive the use of everything made from it";

// The node of an operation, or the node that computes a tensor; null if the handle is not valid.
inline Node* NodeOf(const Operation& op) { return Handles::ToNode(op); }
inline Node* NodeOf(const Output& output) { return Handles::ToNode(output); }
inline GraphImpl& ImplOf(const Graph& graph) { return *Handles::ToImpl(graph); }

// The handle of a node or of one of its outputs; not valid if `node` is null.
Operation OperationOf(Node* node);
Output OutputOf(Node* node, int index);

// Returns the graph of a node that the program uses at `loc`. If the graph has been destroyed, ends the program with a
// message that names the node and `loc`. For functions that return no Status.
Graph& GraphUsedAt(const Node& node, const std::source_location& loc);
inline Graph& GraphUsedAt(const Output& output, const std::source_location& loc) {
  return GraphUsedAt(*NodeOf(output), loc);
}

// Lets a step on one thread read a graph that another thread may destroy or add nodes to: it holds the lock of the
// graph (GraphLock), so the destructor and functions that add nodes wait. Use it only around short pieces of code that
// do not block.
class GraphUse {
 public:
  GraphUse(const GraphUse&) = delete;
  GraphUse& operator=(const GraphUse&) = delete;
  ~GraphUse();
  // FailedPrecondition, naming `user` ("Session::Run"), if the graph has been destroyed.
  Status CheckExists(std::string_view user) const;
  // REQUIRES: CheckExists() is OK.
  Graph& operator*() const { return *graph_; }
  Graph* operator->() const { return graph_; }

 private:
  friend class GraphRef;
  explicit GraphUse(std::shared_ptr<GraphImpl> impl);
  std::shared_ptr<GraphImpl> impl_;
  Graph* graph_ = nullptr;  // null if the graph has been destroyed
};

// A weak reference to a graph, for an object that uses the graph but does not own it, such as a session. It stays valid
// when the graph is moved, and tells whether the graph has been destroyed.
class GraphRef {
 public:
  explicit GraphRef(const Graph& graph) : impl_(Handles::ToImpl(graph)) {}
  Status CheckExists(std::string_view user) const;  // see GraphUse; takes no lock of the graph
  // For code that may run while another thread destroys the graph.
  GraphUse Use() const;
  // REQUIRES: the graph has not been destroyed (checked), and is not destroyed while the caller uses it.
  Graph& operator*() const;
  Graph* operator->() const { return &**this; }

 private:
  std::weak_ptr<GraphImpl> impl_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_HANDLES_H_
