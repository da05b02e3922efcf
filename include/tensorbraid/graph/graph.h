// Dataflow graphs: nodes that run ops, connected by tensors.
//
//   tensorbraid::Graph g;
//   auto device = g.Device("/job:ps/task:0");          // until the end of the block
//   auto x = tensorbraid::Placeholder(g, kFloat32, {-1, 784}, "x");
//   auto y = 2.0 * x + 1.0;
//
// Graphs follow TensorFlow's rules for names, attributes, devices and control edges, and can be written and read as
// TensorFlow's GraphDef. Mistakes made while building are recorded, not thrown: the op returns at once with invalid
// outputs, and the graph keeps the first mistake with its op, node, shapes and the user's source location.
// Graph::status() and Session::Create return this mistake. Operands carry the source location. A function that adds
// nodes and has no operand takes the location as its last argument, `loc`, which callers leave out.
//
// Thread-safe: several threads may build one graph while others run its steps. Building waits while another thread
// builds or prepares a step, never while a step runs. Scopes of all kinds belong to the thread that opened them; a new
// thread begins outside of all scopes. Each thread has its own first mistake. A Graph may be moved or destroyed only
// while no other thread uses it.
//
// A Graph must outlive the use of everything made from it; it may be moved. Handles share the ownership of their nodes,
// but not of the graph. So a handle whose graph was destroyed still has its name, types, shape and device. Any other
// use fails with FailedPrecondition or, where no Status is returned, ends the program. The message names the node and
// the line of the program that made the node.
#ifndef TENSORBRAID_GRAPH_GRAPH_H_
#define TENSORBRAID_GRAPH_GRAPH_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

class AttrValue;
class Gradient;
class Graph;
class GraphImpl;
class Handles;  // the library's own access to the nodes and graphs behind handles
class Node;
class Output;
class PartitionedVariable;
class Variable;
struct VariableScopeOptions;  // variables/variable_scope.h

// A node of a graph: something that a session can run. A handle: copies refer to the same node.
class Operation {
 public:
  Operation() = default;
  bool valid() const { return node_ != nullptr; }
  const std::string& name() const;
  const std::string& type() const;  // the op's type: "MatMul"
  // The inputs of all arguments; a list counts as many as it has tensors. None once the graph has been destroyed.
  int num_inputs() const;
  Output input(int i) const;
  int num_outputs() const;
  Output output(int i) const;
  // Null if the node has no such attribute. Lives as long as the node.
  const AttrValue* attr(std::string_view name) const;
  const std::string& device() const;  // as requested; may be partial or empty
  // Null if not valid. REQUIRES: the graph has not been destroyed (checked).
  Graph* graph(std::source_location loc = std::source_location::current()) const;
  friend bool operator==(const Operation&, const Operation&) = default;

 private:
  friend class Handles;
  friend class Output;
  explicit Operation(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  std::shared_ptr<Node> node_;
};

// One output tensor of a node. Invalid after a mistake (see Graph::status). A handle: copies refer to the same tensor.
class Output {
 public:
  Output() = default;
  bool valid() const { return node_ != nullptr; }
  Operation op() const { return Operation(node_); }
  int index() const { return index_; }
  DType dtype() const;         // kInvalid when not valid
  const Shape& shape() const;  // as far as it is known before running
  std::string name() const;    // "MatMul:0"
  Graph* graph(std::source_location loc = std::source_location::current()) const;  // as Operation::graph
  friend bool operator==(const Output&, const Output&) = default;

 private:
  friend class Handles;
  friend class Operation;
  Output(std::shared_ptr<Node> node, int index) : node_(std::move(node)), index_(index) {}
  std::shared_ptr<Node> node_;
  int index_ = 0;
};

// An operand of an op: a tensor of the graph, a variable (its value), a constant, or a number, which takes the dtype of
// the op's other operand. Remembers the source location where it was made, for error messages.
class Operand {
 public:
  Operand(Output output, std::source_location loc = std::source_location::current());             // NOLINT: converts
  Operand(const Variable& variable, std::source_location loc = std::source_location::current());  // NOLINT: converts
  // The whole value; see PartitionedVariable::AsTensor.
  Operand(const PartitionedVariable& variable,
          std::source_location loc = std::source_location::current());  // NOLINT: converts
  // As a dense tensor; see Gradient::ToDense.
  Operand(const Gradient& gradient, std::source_location loc = std::source_location::current());  // NOLINT: converts
  Operand(Tensor constant, std::source_location loc = std::source_location::current());           // NOLINT: converts
  template <typename T>
  requires std::is_arithmetic_v<T> Operand(
      T number, std::source_location loc = std::source_location::current())  // NOLINT: converts
      : Operand(Number{static_cast<double>(number), IntegerOf(number), std::is_integral_v<T>}, loc) {}
  // Defined in graph.cc, as those of AttrValue are.
  Operand(const Operand&);
  Operand(Operand&&) noexcept;
  Operand& operator=(const Operand&);
  Operand& operator=(Operand&&) noexcept;
  ~Operand();

  // The graph of the operand; null for constants and numbers. REQUIRES: the graph has not been destroyed (checked).
  Graph* graph() const;
  // Returns the operand as a tensor. Constants become Const nodes of `graph`; numbers become Const nodes of type
  // `number_type` (kInvalid: float32, or int32 for integers).
  Output ToOutput(Graph& graph, DType number_type = DType::kInvalid) const;
  bool is_number() const;
  // The operand's own dtype; kInvalid for numbers.
  DType dtype() const;
  const std::source_location& location() const { return loc_; }

 private:
  struct Number {
    double real;
    int64_t integer;  // 0 if the number is not an integer
    bool is_integer;
  };
  Operand(Number number, std::source_location loc);
  template <typename T>
  static int64_t IntegerOf(T number) {
    if constexpr (std::is_integral_v<T>) return static_cast<int64_t>(number);
    return 0;
  }
  std::variant<Output, Tensor, Number> value_;
  std::source_location loc_;
};

// The value of an attribute.
class AttrValue {
 public:
  // A library function, with its attributes.
  struct Function {
    std::string name;
    std::map<std::string, AttrValue> attrs;
  };
  using Value = std::variant<std::monostate, std::string, int64_t, float, bool, DType, Shape, Tensor,
                             std::shared_ptr<const Function>, std::vector<std::string>, std::vector<int64_t>,
                             std::vector<float>, std::vector<bool>, std::vector<DType>, std::vector<Shape>,
                             std::vector<Tensor>, std::vector<std::shared_ptr<const Function>>>;
  // All of these are defined in graph.cc: a file that compiles them instantiates much of std::variant.
  AttrValue();
  AttrValue(const AttrValue&);
  AttrValue(AttrValue&&) noexcept;
  AttrValue& operator=(const AttrValue&);
  AttrValue& operator=(AttrValue&&) noexcept;
  ~AttrValue();
  AttrValue(const char* v);  // NOLINT (all): converts
  AttrValue(std::string v);  // NOLINT
  AttrValue(int64_t v);      // NOLINT
  template <std::signed_integral T>
  AttrValue(T v) : AttrValue(static_cast<int64_t>(v)) {}      // NOLINT: int and long long
  AttrValue(float v);                                         // NOLINT
  AttrValue(double v);                                        // NOLINT
  AttrValue(bool v);                                          // NOLINT
  AttrValue(DType v);                                         // NOLINT
  AttrValue(Shape v);                                         // NOLINT
  AttrValue(Tensor v);                                        // NOLINT
  AttrValue(Function v);                                      // NOLINT
  AttrValue(std::vector<std::string> v);                      // NOLINT
  AttrValue(std::vector<int64_t> v);                          // NOLINT
  AttrValue(std::vector<float> v);                            // NOLINT
  AttrValue(std::vector<bool> v);                             // NOLINT
  AttrValue(std::vector<DType> v);                            // NOLINT
  AttrValue(std::vector<Shape> v);                            // NOLINT
  AttrValue(std::vector<Tensor> v);                           // NOLINT
  AttrValue(std::vector<std::shared_ptr<const Function>> v);  // NOLINT
  template <std::signed_integral T>
  AttrValue(const std::vector<T>& v) : AttrValue(std::vector<int64_t>(v.begin(), v.end())) {}  // NOLINT

  const Value& value() const { return value_; }
  bool has_value() const { return value_.index() != 0; }
  // The value if it has type T, else null.
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value_);
  }
  // Short text for messages.
  std::string ToString() const;

 private:
  Value value_;
};

// Ends a scope of a Graph when it is destroyed. Scopes nest: an inner guard must be destroyed before the outer one. A
// guard that outlives its graph does nothing. It must be destroyed by the thread that opened the scope.
class [[nodiscard]] ScopeGuard {
 public:
  ScopeGuard(ScopeGuard&& o) noexcept : end_(std::exchange(o.end_, nullptr)) {}
  ScopeGuard& operator=(ScopeGuard&&) = delete;
  ~ScopeGuard() {
    if (end_) end_();
  }

 private:
  friend class GraphImpl;
  explicit ScopeGuard(std::function<void()> end) : end_(std::move(end)) {}
  std::function<void()> end_;
};

// Returns the device of a new node; "" leaves the choice to the enclosing scopes. Other threads cannot build while it
// runs, so it must not wait for a thread that uses the graph, nor run steps.
using DeviceFunction = std::function<std::string(const Operation&)>;

class Graph {
 public:
  Graph();
  ~Graph();
  // A graph that was moved from is empty.
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  // Places the nodes made while the guard lives on a device. Names may be partial ("/job:ps", "/device:CPU:1") and are
  // merged with the enclosing scopes, part by part; the inner scope wins. A device function is called for each node;
  // scopes inside the function's scope take precedence over its result. "" has no effect.
  ScopeGuard Device(const std::string& device);
  ScopeGuard Device(const char* device) { return Device(std::string(device)); }
  ScopeGuard Device(DeviceFunction function);
  // Ignores the enclosing device scopes, like tf.device(None).
  ScopeGuard NoDevice();
  // Prefixes node names with "name/". The scope's name is made unique ("tower", "tower_1"). A name that ends with "/"
  // is used unchanged, to enter a scope again; "" goes back to the top level.
  ScopeGuard NameScope(const std::string& name);
  // The full name of the open name scope, "tower_1/conv"; "" at the top level.
  std::string name_scope() const;
  // Prefixes the names of variables made by GetVariable and by layers with "name/", and opens a name scope of that
  // name. The name is not made unique: a scope that is opened again has the same variables (see
  // variables/variable_scope.h). A name that ends with "/" does not depend on the enclosing scopes; "" stays in the
  // open scope and changes its options only.
  ScopeGuard VariableScope(const std::string& name, std::source_location loc = std::source_location::current());
  ScopeGuard VariableScope(const std::string& name, const VariableScopeOptions& options,
                           std::source_location loc = std::source_location::current());
  // Nodes made while the guard lives keep their state, such as the value of a variable, in this container of the
  // device, if they have a state and name no container of their own. Session::Reset clears containers. "": the default
  // one. Source: tf.container.
  ScopeGuard Container(std::string name);
  // Nodes made while the guard lives run after these operations. An empty list ignores the enclosing control scopes.
  ScopeGuard ControlDependencies(std::vector<Operation> operations);
  ScopeGuard ControlDependencies(const std::vector<Output>& outputs);
  // Places nodes made while the guard lives on the device of `op`.
  ScopeGuard ColocateWith(Operation op);

  // Nodes made while the guard lives, and messages about them, name this line of the user's program instead of the line
  // of C++ that makes them. For bindings of other languages. Only the outermost of nested guards has an effect.
  ScopeGuard Location(const std::string& file, int line);

  // The first mistake that this thread has made while building, or OK.
  Status status() const;
  // Returns status() and forgets the mistake, so that building can go on. For callers that report each mistake at once.
  Status TakeStatus();
  // Records `status` as the mistake of this thread unless one is recorded already. OK has no effect.
  void AddError(const Status& status);

  // Finds a node by "name", or a tensor by "name:0". NotFound suggests the nearest name; InvalidArgument when the name
  // does not have this form.
  StatusOr<Operation> FindOperation(std::string_view name) const;
  StatusOr<Output> FindOutput(std::string_view name) const;
  std::vector<Operation> operations() const;  // in order of creation

  // The seed of random ops that have no seed of their own; 0: they differ from run to run.
  void SetRandomSeed(int64_t seed);
  int64_t random_seed() const;

  // Named lists of tensors, as with tf.add_to_collection: "trainable_variables", "global_variables", ...
  void AddToCollection(const std::string& key, Output output);
  std::vector<Output> GetCollection(const std::string& key) const;
  // The graph's variables, in order of creation.
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;

  // Forbids adding nodes from now on. An attempt is recorded as a mistake that names `reason` and the line of the
  // attempt. Like any mistake, it is returned by this thread's later calls of Session::Run. Only the first call has an
  // effect.
  void Finalize(const std::string& reason);
  bool finalized() const;
  // Allows changes again. A MonitoredSession does so when it is closed, if the graph could change before.
  void Unfinalize();

  // TensorFlow's GraphDef, in binary or text form.
  StatusOr<std::string> ToGraphDef() const;
  StatusOr<std::string> ToGraphDefText() const;
  // Adds the nodes of a GraphDef (binary). On an error nothing is added: InvalidArgument when the bytes are not a
  // GraphDef, or when it names an op, attribute or input that does not exist or a node name that is taken. Nodes with
  // impossible shapes are imported; only steps that run such a node fail.
  Status ImportGraphDef(std::string_view graph_def);
  Status ImportGraphDefText(std::string_view graph_def_text);

 private:
  friend class Handles;
  std::shared_ptr<GraphImpl> impl_;  // sessions and guards observe it, to know whether the graph still exists
};

// Adds a node of any registered op. The functions of ops.h use it. Programs can use it for ops that have no function.
//
//   auto sum = NodeBuilder(g, "AddV2").Name("total").Input(a).Input(b).Output();
class NodeBuilder {
 public:
  NodeBuilder(Graph& graph, std::string op, std::source_location loc = std::source_location::current());
  // The name is made unique within the open name scope. A name that ends with "/" does not depend on the open name
  // scope and is used without the "/".
  NodeBuilder& Name(std::string name);
  NodeBuilder& Input(tensorbraid::Output input);
  // For an input that takes a list ("values: N * T").
  NodeBuilder& InputList(std::vector<tensorbraid::Output> inputs);
  NodeBuilder& Attr(std::string name, AttrValue value);
  NodeBuilder& Control(Operation op);
  // The device of this node alone; takes precedence over the device scopes.
  NodeBuilder& Device(std::string device);
  NodeBuilder& ColocateWith(Operation op);

  // Adds the node. Type attributes that follow from the inputs may be left out. Returns an invalid operation after a
  // mistake.
  Operation Finish();
  // Calls Finish() and returns the node's first output.
  tensorbraid::Output Output();

 private:
  struct InputArg {
    std::vector<tensorbraid::Output> outputs;
    bool is_list;
  };
  friend class GraphImpl;
  Graph& graph_;
  std::string op_;
  std::string name_;
  std::string device_;
  std::vector<InputArg> inputs_;
  std::vector<Operation> controls_;
  std::vector<Operation> colocations_;
  std::map<std::string, AttrValue> attrs_;
  std::source_location loc_;
};

// Some rows (slices along dimension 0) of a tensor whose other rows are 0. values[i] is row indices[i] of the tensor.
// If a row occurs several times, it is the sum of its occurrences. Source: tf.IndexedSlices.
struct IndexedSlices {
  Output values;       // [n, ...]
  Output indices;      // [n], int32 or int64
  Output dense_shape;  // the shape of the whole tensor, an int64 vector
};

// The gradient of a tensor or variable: a dense tensor, or slices if only some rows were looked up. Not valid if what
// is differentiated does not depend on the tensor or variable. A handle: copies refer to the same tensors of the graph.
class Gradient {
 public:
  Gradient() = default;
  Gradient(Output dense) { slices_.values = dense; }                     // NOLINT: converts
  Gradient(IndexedSlices slices) : slices_(slices), is_sparse_(true) {}  // NOLINT: converts

  bool valid() const { return slices_.values.valid(); }
  bool is_sparse() const { return is_sparse_; }
  DType dtype() const { return slices_.values.dtype(); }
  Graph* graph(std::source_location loc = std::source_location::current()) const { return slices_.values.graph(loc); }
  // The operation that computes the gradient; for slices, the operation that computes their values.
  Operation op() const { return slices_.values.op(); }
  // The tensor. REQUIRES: !is_sparse() (checked). Use ToDense() for any gradient.
  const Output& dense(std::source_location loc = std::source_location::current()) const;
  // The slices. REQUIRES: is_sparse() (checked).
  const IndexedSlices& slices(std::source_location loc = std::source_location::current()) const;
  // The gradient as a dense tensor. For slices this adds nodes that fill a tensor as large as the variable.
  Output ToDense(std::source_location loc = std::source_location::current()) const;
  operator Output() const { return ToDense(); }  // NOLINT: converts
  // Slices with every row once: values with the same index are summed, and the indices are in the order of their first
  // occurrence. A dense gradient is returned unchanged.
  Gradient WithDistinctRows(std::source_location loc = std::source_location::current()) const;

 private:
  IndexedSlices slices_;  // a dense gradient has only values
  bool is_sparse_ = false;
};

// The sum of gradients of one tensor. If all of them are slices, the result has all their slices, concatenated;
// otherwise it is dense. If the list is empty or a gradient is not valid, logs this mistake and returns a gradient that
// is not valid.
Gradient SumOfGradients(const std::vector<Gradient>& gradients,
                        std::source_location loc = std::source_location::current());

struct GradientsOptions {
  // The operations that make these tensors are taken as constants: no gradient passes through them. But an x that is
  // one of their outputs has its gradient.
  std::vector<Output> stop_gradients = {};
  // Of the name scope of the new nodes.
  std::string name = "gradients";
};
// Adds the partial derivatives of the sum of all `ys` with respect to each of `xs` to the graph, each op placed with
// the op that it differentiates. `grad_ys`, if not empty, has one initial gradient per y instead of ones; a complex y
// requires one. The result for an x on which no y depends is an invalid Output. Fails, naming the op, when an op on the
// way has no gradient. Source: tf.gradients.
StatusOr<std::vector<Output>> Gradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                        const std::vector<Output>& grad_ys = {}, const GradientsOptions& options = {},
                                        std::source_location loc = std::source_location::current());
// As Gradients, but if only rows of an x are looked up (Gather), its gradient is slices. To differentiate by a
// variable, give its handle as x.
StatusOr<std::vector<Gradient>> SparseGradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                                const std::vector<Output>& grad_ys = {},
                                                const GradientsOptions& options = {},
                                                std::source_location loc = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_GRAPH_H_
