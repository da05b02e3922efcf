// The inside of the public Graph: its nodes, the edits of them, its lock, and what each thread has opened in it.
#ifndef TENSORBRAID_GRAPH_MODEL_GRAPH_IMPL_H_
#define TENSORBRAID_GRAPH_MODEL_GRAPH_IMPL_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "core/threads/mutex.h"
#include "core/threads/recursive_mutex.h"
#include "graph/model/handles.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// The inside of a Graph. Its lock orders the threads that build, read and prepare steps of one graph: each function of
// this class that is documented in graph.h, and each function of the library that adds or reads nodes of a graph which
// other threads may use, holds it (GraphLock). Graphs that one thread has made for itself, such as the part of a graph
// that a step runs, need no lock. The scopes and errors are those of the calling thread.
class GraphImpl : public std::enable_shared_from_this<GraphImpl> {
  struct ThreadState;

 public:
  explicit GraphImpl(Graph* self);
  // Called when the Graph is destroyed. The nodes lose their inputs and their graph. Waits until no GraphUse of this
  // graph is left.
  void End();

  Graph* graph() const { return self_.load(std::memory_order_relaxed); }  // null after End()
  RecursiveMutex& lock() const { return lock_; }
  // REQUIRES: no other thread uses the graph, or the caller holds the lock.
  const std::vector<std::shared_ptr<Node>>& nodes() const { return nodes_; }
  size_t num_nodes() const;  // thread-safe
  Node* Find(std::string_view name) const;

  // Checks the spec against the definition of the op, infers types and shapes, and adds the node. Adds nothing on
  // error. Inputs of a Merge may be missing (invalid Outputs) until CloseLoop sets them.
  StatusOr<Node*> AddNode(NodeSpec spec);
  // The first half of AddNode: the checked node, which does not belong to `nodes()` yet.
  StatusOr<std::shared_ptr<Node>> MakeNode(NodeSpec spec);
  // FailedPrecondition if the graph is finalized.
  Status CheckMayChange() const;
  // Returns the definition of an op or the signature of a library function; null if neither exists.
  const OpDef* FindOp(std::string_view op) const;
  // Never null. REQUIRES (set_functions): `functions` has every function that a node of this graph has as its op.
  const std::shared_ptr<const FunctionLibrary>& functions() const { return functions_; }
  void set_functions(std::shared_ptr<const FunctionLibrary> functions);
  // Adds the node that a NodeBuilder describes, with the scopes that are open applied to it.
  Operation Add(NodeBuilder& builder);
  // Adds a copy of a node of another graph, with these inputs and control inputs. The copy keeps the original's shapes
  // and location. If this graph has no functions, it takes over the library of the other graph. AlreadyExists if the
  // name is taken.
  StatusOr<Node*> CopyNode(const Node& node, std::vector<Output> inputs, std::vector<Node*> controls);
  // Merges `shape` into the shape of an output. REQUIRES: the shapes are compatible (checked).
  // Thread-safe.
  void RefineShape(Node* node, int output, const Shape& shape);
  // Returns the line of the user's source for a node that is added at `line`: the line of the open ScopedLocation, or
  // `line` if none is open.
  SourceLine UserLine(const SourceLine& line) const { return here().user_line.value_or(line); }
  // The line of the open ScopedLocation, if any.
  const std::optional<SourceLine>& user_line() const { return here().user_line; }
  // The branch or loop that new nodes belong to; null: none. See flow_context.h.
  FlowContext* flow_context() const { return here().flow_context; }
  void set_flow_context(FlowContext* context) { here().flow_context = context; }
  // Makes a context that lives as long as the graph.
  FlowContext* MakeFlowContext();
  // All branches and loops of the graph.
  const std::vector<std::shared_ptr<FlowContext>>& flow_contexts() const { return flow_contexts_; }
  // Sets the branch or loop that a node from a GraphDef belongs to; see control_flow/imported_flow.h.
  void SetFlowContext(Node* node, FlowContext* context) { node->flow_context_ = context; }
  // Whether nodes with control flow were imported whose contexts have not been found.
  bool has_imported_flow() const { return has_imported_flow_; }
  void set_has_imported_flow(bool has) { has_imported_flow_ = has; }
  // Adds the control inputs that the open scopes give a new node, and makes all its inputs usable in the open flow
  // context. Implemented in flow_context.cc.
  Status EnterFlowContext(NodeSpec* spec);
  size_t num_control_scopes() const { return here().control_scopes.size(); }
  // The device that the open device scopes give to a node.
  std::string DeviceFor(const Node& node) const;
  // Makes `name` unique within the open name scope: "scope/name_1". A name that ends with "/" is the full name of a
  // scope: it is used without the "/" and without a prefix, and made unique only if a node already has that name.
  std::string UniqueName(const std::string& name);
  // Full name of the open name scope: "tower_1/conv"; "" at the top level.
  std::string name_scope() const {
    const auto& scopes = here().name_scopes;
    return scopes.empty() ? "" : scopes.back();
  }
  // Full name of the name scope of the gradients that are being added, "gradients_1"; "" at other times. TensorArrays
  // that hold gradients are named after it, so that each call of Gradients has TensorArrays of its own.
  const std::string& gradient_scope() const { return here().gradient_scope; }
  void set_gradient_scope(std::string scope) { here().gradient_scope = std::move(scope); }
  // Sets an input that was missing (an invalid Output) when the Merge was added: in a loop, the NextIteration is
  // created after the Merge. InvalidArgument unless `from` is an output of a NextIteration of this graph with the dtype
  // of the Merge. Nothing else may read the inputs of the Merge until all of them are set.
  Status CloseLoop(Node* merge, int input, Output from);
  // Adds a control edge to an existing node. Does nothing if the edge exists.
  void AddControlEdge(Node* from, Node* to);
  // The following five rewrite a finished graph (see executor/passes). They keep names, devices and locations.
  // Sets an input of a node. REQUIRES: `from` is an output of this graph with the dtype of the input that it replaces.
  void SetInput(Node* node, int input, Output from) { node->inputs_[input] = from; }
  // REQUIRES: the node's op declares the attribute, with the type of `value`; nothing else keeps a reference to it.
  void SetAttr(Node* node, std::string_view name, AttrValue value) {
    node->attrs_.insert_or_assign(std::string(name), std::move(value));
  }
  void SetControlInputs(Node* node, std::vector<Node*> controls) { node->control_inputs_ = std::move(controls); }
  // Turns `node` into the node that `spec` describes. `node` keeps its id, name, device, location and consumers,
  // whatever `spec` says about them. Returns the errors of AddNode, or Internal if the output types differ; the node
  // then does not change. REQUIRES: nothing else keeps a reference to an attribute of the node.
  Status Become(Node* node, NodeSpec spec);
  // Removes the nodes whose ids are set in `removed` (which may be shorter than the graph), sorts the others such that
  // ids rise along every edge except back edges, and renumbers them. REQUIRES: no other node refers to a removed one.
  void RemoveNodes(const std::vector<bool>& removed);
  // Removes all but the first `count` nodes. REQUIRES: no earlier node, scope or collection refers to the removed ones.
  void RemoveFrom(size_t count);
  // Called by the constructor of Variable.
  void AddVariable(Variable variable);
  // The part of a partitioned variable whose initializer is being called; empty at other times.
  const std::optional<VariablePart>& initialized_part() const { return here().initialized_part; }
  void set_initialized_part(std::optional<VariablePart> part) { here().initialized_part = std::move(part); }
  // Returns the object of type T that a later layer keeps with the graph. Makes the object at the first call. The
  // object is guarded by the lock of the graph if several threads may use the graph.
  template <typename T>
  T& extension() {
    const RecursiveLock locked(lock_);
    return In<T>(extensions_);
  }
  // The same for an object of which each thread has its own.
  template <typename T>
  T& thread_extension() {
    return In<T>(here().extensions);
  }
  // A guard that calls `end` when it is destroyed, unless the graph has been destroyed before. If another thread
  // destroys it, `end` is given the scopes of this thread all the same.
  ScopeGuard GuardOf(std::function<void(ThreadState&)> end);
  // An error if `op`, which the program gave, is not an operation of this graph: FailedPrecondition if its graph has
  // been destroyed. REQUIRES: `op` is valid.
  Status CheckOwns(const Operation& op) const;
  bool in_control_scope() const { return !here().control_scopes.empty(); }
  // The error that this thread has recorded first; OK if it has recorded none.
  Status ThreadStatus() const;
  // Returns ThreadStatus() and forgets it.
  Status TakeThreadStatus();
  // Records an error of this thread unless it has recorded one already.
  void AddThreadError(const Status& status);

 private:
  friend class Graph;
  friend class GraphUse;
  friend class ScopedLocation;
  friend class ScopedUserCode;
  friend class ThreadsGraphs;
  struct DeviceScope {
    std::string name;
    DeviceFunction function;
    bool reset = false;
  };
  struct ControlScope {
    std::vector<Node*> nodes;
    bool reset = false;
  };
  using Extensions = std::map<std::type_index, std::shared_ptr<void>>;
  // The scopes that a thread has opened, and what it is building.
  struct ThreadState {
    std::vector<DeviceScope> device_scopes;
    std::vector<std::string> name_scopes;  // full prefixes, without the last "/"
    std::string gradient_scope;
    std::vector<ControlScope> control_scopes;
    std::vector<Node*> colocation_scopes;
    std::vector<std::string> container_scopes;
    FlowContext* flow_context = nullptr;
    std::optional<SourceLine> user_line;
    std::optional<VariablePart> initialized_part;
    Extensions extensions;
    bool is_empty() const {
      return device_scopes.empty() && name_scopes.empty() && control_scopes.empty() && colocation_scopes.empty() &&
             container_scopes.empty() && flow_context == nullptr && !user_line.has_value();
    }
  };
  template <typename T>
  static T& In(Extensions& extensions) {
    std::shared_ptr<void>& object = extensions[typeid(T)];
    if (object == nullptr) object = std::make_shared<T>();
    return *static_cast<T*>(object.get());
  }
  // The state of the calling thread, empty at first. Other threads do not use it, so the lock need not be held.
  ThreadState& here() const;
  ThreadState& StateOf(uint64_t thread) const;
  // Forgets the state and error of a thread that has ended, but not scopes that are still open.
  void ForgetThread(uint64_t thread);
  // Adds a node that MakeNode has made. AlreadyExists if its name is taken.
  StatusOr<Node*> Publish(std::shared_ptr<Node> node);
  // Removes the graph and the inputs from a node, which handles may still keep.
  void Release(Node& node) const;
  // Sorts the nodes such that ids rise along every edge except back edges.
  void Sort();

  std::atomic<Graph*> self_;
  // Taken before mu_. See the comment of the class.
  mutable RecursiveMutex lock_;
  std::vector<std::shared_ptr<Node>> nodes_;
  std::map<std::string, Node*, std::less<>> by_name_;
  std::map<std::string, int> name_uses_;                     // keyed by lower-cased full name; see UniqueName
  std::vector<std::shared_ptr<FlowContext>> flow_contexts_;  // all of the graph
  bool has_imported_flow_ = false;
  std::atomic<int64_t> seed_{0};
  std::string finalized_by_ TB_GUARDED_BY(mu_);
  std::map<std::string, std::vector<Output>> collections_;
  std::vector<Variable> variables_;
  std::shared_ptr<const FunctionLibrary> functions_;
  Extensions extensions_;
  const uint64_t number_;  // of the graph among those of the process
  // Guards the state that steps read without the lock of the graph. Held only for short reads and writes.
  mutable Mutex mu_;
  mutable std::map<uint64_t, std::unique_ptr<ThreadState>> states_ TB_GUARDED_BY(mu_);  // by ThreadNumber
  std::map<uint64_t, Status> errors_ TB_GUARDED_BY(mu_);                                // the same; no entry is OK
  std::atomic<bool> has_errors_{false};                                                 // false: errors_ is empty
};

// Holds the lock of a graph. Several objects of this class may exist on one thread. Blocks while another thread builds
// or prepares a step; never while a step runs. Gives up Python's lock meanwhile.
class TB_THREAD_ANNOTATION(scoped_lockable) GraphLock {
 public:
  explicit GraphLock(const GraphImpl& graph) TB_NO_THREAD_SAFETY_ANALYSIS : mu_(graph.lock()) { mu_.Lock(); }
  explicit GraphLock(const Graph& graph) : GraphLock(ImplOf(graph)) {}
  ~GraphLock() TB_NO_THREAD_SAFETY_ANALYSIS { mu_.Unlock(); }
  GraphLock(const GraphLock&) = delete;
  GraphLock& operator=(const GraphLock&) = delete;

 private:
  RecursiveMutex& mu_;
};

// While it exists, this thread does not hold the lock of the graph: the library calls a function of the program.
class GraphUnlocked {
 public:
  explicit GraphUnlocked(const Graph& graph) : mu_(ImplOf(graph).lock()), times_(mu_.UnlockAll()) {}
  ~GraphUnlocked() { mu_.LockAgain(times_); }
  GraphUnlocked(const GraphUnlocked&) = delete;
  GraphUnlocked& operator=(const GraphUnlocked&) = delete;

 private:
  RecursiveMutex& mu_;
  const int times_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_GRAPH_IMPL_H_
