// Dataflow graphs: nodes made of ops, joined by tensors.
//
//   tensorbraid::Graph g;
//   auto device = g.Device("/job:ps/task:0");          // until the end of the block
//   auto x = tensorbraid::Placeholder(g, kFloat32, {-1, 784}, "x");
//   auto y = 2.0 * x + 1.0;
//
// Graphs follow TensorFlow's rules for names, attributes, devices and control edges, and can be written and read as
// its GraphDef. Mistakes made while building are kept, not thrown: an op returns at once, its outputs invalid, and the
// first mistake, with op, node, shapes and the place in the user's source, is what Graph::status() and the making of a
// session return. A Graph and everything made from it is used by one thread at a time.
#ifndef TENSORBRAID_GRAPH_H_
#define TENSORBRAID_GRAPH_H_

#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensorbraid/dtype.h"
#include "tensorbraid/shape.h"
#include "tensorbraid/status.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

class Graph;
class GraphImpl;
class Node;
class Output;
class Variable;

// A node of a graph, seen by the user: something that runs. Copies name the same node.
class Operation {
 public:
  Operation() = default;
  explicit Operation(Node* node) : node_(node) {}
  bool valid() const { return node_ != nullptr; }
  const std::string& name() const;
  const std::string& type() const;  // the op: "MatMul"
  int num_outputs() const;
  Output output(int i) const;
  const std::string& device() const;  // as requested; may be partial or empty
  Graph* graph() const;
  Node* node() const { return node_; }
  friend bool operator==(const Operation&, const Operation&) = default;

 private:
  Node* node_ = nullptr;
};

// One tensor that a node will compute. Invalid after a mistake (see Graph::status).
class Output {
 public:
  Output() = default;
  Output(Node* node, int index) : node_(node), index_(index) {}
  bool valid() const { return node_ != nullptr; }
  Operation op() const { return Operation(node_); }
  int index() const { return index_; }
  DType dtype() const;         // kInvalid when not valid
  const Shape& shape() const;  // what is known before running
  std::string name() const;    // "MatMul:0"
  Graph* graph() const;
  Node* node() const { return node_; }
  friend bool operator==(const Output&, const Output&) = default;

 private:
  Node* node_ = nullptr;
  int index_ = 0;
};

// What an op takes: a tensor of the graph, a variable (its value), a constant, or a number that takes the dtype of the
// op's other operand. Remembers the place in the user's source where it was made, for messages.
class Operand {
 public:
  Operand(Output output, std::source_location loc = std::source_location::current())  // NOLINT: converts
      : value_(output), loc_(loc) {}
  Operand(const Variable& variable, std::source_location loc = std::source_location::current());  // NOLINT: converts
  Operand(Tensor constant, std::source_location loc = std::source_location::current())            // NOLINT: converts
      : value_(std::move(constant)), loc_(loc) {}
  template <typename T>
  requires std::is_arithmetic_v<T> Operand(
      T number, std::source_location loc = std::source_location::current())  // NOLINT: converts
      : value_(Number{static_cast<double>(number), static_cast<int64_t>(number), std::is_integral_v<T>}), loc_(loc) {}

  // The graph it belongs to, or null for constants and numbers.
  Graph* graph() const;
  // The tensor; constants become Const nodes of `graph`, numbers of type `number_type` (kInvalid: float32, or int32 for
  // integers).
  Output ToOutput(Graph& graph, DType number_type = DType::kInvalid) const;
  bool is_number() const { return std::holds_alternative<Number>(value_); }
  // The dtype it brings with it; kInvalid for numbers.
  DType dtype() const;
  const std::source_location& location() const { return loc_; }

 private:
  struct Number {
    double real;
    int64_t integer;
    bool is_integer;
  };
  std::variant<Output, Tensor, Number> value_;
  std::source_location loc_;
};

// The value of an attribute.
class AttrValue {
 public:
  using List = std::variant<std::vector<std::string>, std::vector<int64_t>, std::vector<float>, std::vector<bool>,
                            std::vector<DType>, std::vector<Shape>, std::vector<Tensor>>;
  // A library function by name, with its attributes.
  struct Function {
    std::string name;
    std::map<std::string, AttrValue> attrs;
  };
  using Value = std::variant<std::monostate, std::string, int64_t, float, bool, DType, Shape, Tensor,
                             std::shared_ptr<const Function>, std::vector<std::string>, std::vector<int64_t>,
                             std::vector<float>, std::vector<bool>, std::vector<DType>, std::vector<Shape>,
                             std::vector<Tensor>, std::vector<std::shared_ptr<const Function>>>;
  AttrValue() = default;
  AttrValue(const char* v) : value_(std::string(v)) {}                               // NOLINT (all): converts
  AttrValue(std::string v) : value_(std::move(v)) {}                                 // NOLINT
  AttrValue(int v) : value_(int64_t{v}) {}                                           // NOLINT
  AttrValue(int64_t v) : value_(v) {}                                                // NOLINT
  AttrValue(float v) : value_(v) {}                                                  // NOLINT
  AttrValue(double v) : value_(static_cast<float>(v)) {}                             // NOLINT
  AttrValue(bool v) : value_(v) {}                                                   // NOLINT
  AttrValue(DType v) : value_(v) {}                                                  // NOLINT
  AttrValue(Shape v) : value_(std::move(v)) {}                                       // NOLINT
  AttrValue(Tensor v) : value_(std::move(v)) {}                                      // NOLINT
  AttrValue(Function v) : value_(std::make_shared<const Function>(std::move(v))) {}  // NOLINT
  template <typename T>
  AttrValue(std::vector<T> v) : value_(std::move(v)) {}  // NOLINT

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

// Undoes what a scope did when the block ends. Scopes nest; each ends before the one it was opened in.
class [[nodiscard]] ScopeGuard {
 public:
  explicit ScopeGuard(std::function<void()> end) : end_(std::move(end)) {}
  ScopeGuard(ScopeGuard&& o) noexcept : end_(std::exchange(o.end_, nullptr)) {}
  ScopeGuard& operator=(ScopeGuard&&) = delete;
  ~ScopeGuard() {
    if (end_) end_();
  }

 private:
  std::function<void()> end_;
};

// Gives each new node its device; "" leaves it to the scopes outside.
using DeviceFunction = std::function<std::string(const Operation&)>;

class Graph {
 public:
  Graph();
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  // Nodes made while the guard lives go to this device. Names may be partial ("/job:ps", "/device:CPU:1") and are
  // merged with the scopes outside, the inner one winning part by part; a function is asked for each node. A scope
  // inside a function's scope is merged over what the function gives. "" changes nothing.
  ScopeGuard Device(const std::string& device);
  ScopeGuard Device(const char* device) { return Device(std::string(device)); }
  ScopeGuard Device(DeviceFunction function);
  // Forgets the device scopes around, as tf.device(None).
  ScopeGuard NoDevice();
  // Names begin with "name/"; made unique ("tower", "tower_1"). A name that ends with "/" is entered as it is; "" goes
  // back to the top.
  ScopeGuard NameScope(const std::string& name);
  // Nodes run after these; an empty list forgets the control scopes around.
  ScopeGuard ControlDependencies(std::vector<Operation> operations);
  ScopeGuard ControlDependencies(const std::vector<Output>& outputs);
  // Nodes go where `op` goes.
  ScopeGuard ColocateWith(Operation op);

  // The first mistake made while building, or OK.
  const Status& status() const;
  // Keeps `status` as this graph's mistake unless there is one already; OK changes nothing.
  void AddError(const Status& status);

  // "name" of a node, or "name:0" of a tensor. NotFound suggests the nearest name.
  StatusOr<Operation> FindOperation(std::string_view name) const;
  StatusOr<Output> FindOutput(std::string_view name) const;
  std::vector<Operation> operations() const;  // in the order of making

  // Seed of the random ops that have none of their own; 0: a different one each time.
  void SetRandomSeed(int64_t seed);
  int64_t random_seed() const;

  // Named lists of tensors and operations, as tf.add_to_collection: "trainable_variables", "global_variables", ...
  void AddToCollection(const std::string& key, Output output);
  std::vector<Output> GetCollection(const std::string& key) const;
  // Variables in order of making.
  const std::vector<Variable>& variables() const;
  std::vector<Variable> trainable_variables() const;

  // No node can be added afterwards; trying to is a mistake that names `reason`. What sessions have already sent away
  // stays as it was.
  void Finalize(const std::string& reason);
  bool finalized() const;

  // TensorFlow's GraphDef, in binary or text form.
  StatusOr<std::string> ToGraphDef() const;
  StatusOr<std::string> ToGraphDefText() const;
  // Adds the nodes of a GraphDef (binary). InvalidArgument for what is not one, or names unknown ops, attributes,
  // inputs or a name that is taken; nothing is added then. Shapes that cannot be are an error only of steps that run
  // such a node.
  Status ImportGraphDef(std::string_view graph_def);
  Status ImportGraphDefText(std::string_view graph_def_text);

  GraphImpl& impl() const { return *impl_; }

 private:
  std::unique_ptr<GraphImpl> impl_;
};

// Adds a node of any registered op: what the functions of ops.h are made of, and the way to ops that have none.
//   auto sum = NodeBuilder(g, "AddV2").Name("total").Input(a).Input(b).Output();
class NodeBuilder {
 public:
  NodeBuilder(Graph& graph, std::string op, std::source_location loc = std::source_location::current());
  // Made unique within the open name scope. A name that ends with "/" is taken as it is, without the "/".
  NodeBuilder& Name(std::string name);
  NodeBuilder& Input(tensorbraid::Output input);
  // For an argument that takes a list ("values: N * T").
  NodeBuilder& InputList(std::vector<tensorbraid::Output> inputs);
  NodeBuilder& Attr(std::string name, AttrValue value);
  NodeBuilder& Control(Operation op);
  // For this node alone, over the device scopes.
  NodeBuilder& Device(std::string device);
  NodeBuilder& ColocateWith(Operation op);

  // Adds the node. Types that follow from the inputs need not be given. An invalid operation after a mistake.
  Operation Finish();
  // Finish(), and the node's first output.
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

// Partial derivatives of the sum of all `ys` with respect to each of `xs`, as graph ops next to what they
// differentiate. `grad_ys` (if not empty, one per y) stands in place of ones. An x that no y depends on gets an invalid
// Output. Fails when an op in between has no gradient, naming it.
// Source: tf.gradients.
StatusOr<std::vector<Output>> Gradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                        const std::vector<Output>& grad_ys = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_H_
