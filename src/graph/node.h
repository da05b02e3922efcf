// A graph from the inside.
#ifndef TENSORBRAID_GRAPH_NODE_H_
#define TENSORBRAID_GRAPH_NODE_H_

#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "core/logging.h"
#include "graph/op_registry.h"
#include "tensorbraid/graph.h"
#include "tensorbraid/variable.h"

namespace tensorbraid {

class FunctionLibrary;

class Node {
 public:
  // Position among the graph's nodes. Rises along every edge, except from a NextIteration to a Merge.
  int id() const { return id_; }
  const std::string& name() const { return name_; }
  const OpDef& op() const { return *op_; }
  const std::string& type() const { return op_->name; }
  Graph* graph() const;

  const std::vector<Output>& inputs() const { return inputs_; }
  const std::vector<Node*>& control_inputs() const { return control_inputs_; }
  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DType input_type(int i) const { return inputs_[i].node()->output_type(inputs_[i].index()); }
  DType output_type(int i) const { return output_types_[i]; }
  const std::vector<DType>& output_types() const { return output_types_; }
  const Shape& output_shape(int i) const { return output_shapes_[i]; }
  // The type that argument i is declared to take: a reference type when the op wants the variable itself.
  DType declared_input_type(int i) const { return declared_input_types_[i]; }
  // Inputs [begin, end) belong to the argument of this number.
  std::pair<int, int> InputRange(int arg) const;

  const std::string& device() const { return device_; }
  void set_device(std::string device) { device_ = std::move(device); }
  // Names of the nodes this one is placed with ("_class": "loc:@name").
  std::vector<std::string> colocated_with() const;

  const std::map<std::string, AttrValue, std::less<>>& attrs() const { return attrs_; }
  const AttrValue* FindAttr(std::string_view name) const;
  // REQUIRES: present with this type (checked); op definitions guarantee it for declared attributes.
  template <typename T>
  const T& attr(std::string_view name) const {
    const AttrValue* a = FindAttr(name);
    const T* v = a == nullptr ? nullptr : a->get<T>();
    if (v == nullptr) MissingAttr(name);
    return *v;
  }
  // Where in the user's source it was made: "model.cc:12", or "" for nodes from a GraphDef.
  std::string location() const;
  // "MatMul 'logits' (model.cc:12)".
  std::string Describe() const;

 private:
  friend class GraphImpl;
  Node() = default;
  [[noreturn]] void MissingAttr(std::string_view name) const;

  int id_ = 0;
  GraphImpl* graph_ = nullptr;
  std::string name_;
  const OpDef* op_ = nullptr;
  std::vector<Output> inputs_;
  std::vector<Node*> control_inputs_;
  std::vector<DType> declared_input_types_;
  std::vector<DType> output_types_;
  std::vector<Shape> output_shapes_;
  std::string device_;
  std::map<std::string, AttrValue, std::less<>> attrs_;
  const char* file_ = nullptr;
  int line_ = 0;
};

template <typename T>
const T& ShapeContext::attr(std::string_view name) const {
  return node_.attr<T>(name);
}

// What a node is to be, before it is checked. Inputs are those of all arguments in a row.
struct NodeSpec {
  std::string name;  // "" takes the op's name; otherwise exact, the caller has made it unique
  std::string op;
  std::vector<Output> inputs;
  std::vector<Node*> controls;
  std::map<std::string, AttrValue> attrs;  // declared ones and "_…"; defaults and inferred ones may be missing
  std::string device;
  std::source_location loc;
  bool has_location = false;
  // Shapes that cannot be are left for the kernel to refuse, should the node ever run.
  bool defer_shape_errors = false;
};

class GraphImpl {
 public:
  explicit GraphImpl(Graph* self);

  Graph* graph() const { return self_; }
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  Node* Find(std::string_view name) const;

  // Checks the spec against the op's definition, infers types and shapes, adds the node. Nothing is added on error.
  // Inputs of a Merge may be missing (not valid) until CloseLoop.
  StatusOr<Node*> AddNode(NodeSpec spec);
  // The definition of an op or of a library function; null when there is none.
  const OpDef* FindOp(std::string_view op) const;
  // Never null. REQUIRES (set_functions): has whatever functions nodes call by name.
  const std::shared_ptr<const FunctionLibrary>& functions() const { return functions_; }
  void set_functions(std::shared_ptr<const FunctionLibrary> functions);
  // Adds what a NodeBuilder describes, under the scopes that are open.
  Operation Add(NodeBuilder& builder);
  // A copy of a node of another graph (a partition of it), with these inputs; shapes and location come along, and the
  // library if this graph has none.
  StatusOr<Node*> CopyNode(const Node& node, std::vector<Output> inputs, std::vector<Node*> controls);
  // Merges what is known now into an output's shape. REQUIRES: compatible.
  void RefineShape(Node* node, int output, const Shape& shape);
  // Makes `name` unique within the open name scope: "scope/name_1". A name that ends with "/" is a full one, of a
  // scope, and is taken as it is unless a node has it already.
  std::string UniqueName(const std::string& name);
  // Of the open name scope, in full: "tower_1/conv"; "" at the top.
  std::string name_scope() const { return name_scopes_.empty() ? "" : name_scopes_.back(); }
  // Sets an input of a Merge that was added without it (an Output that is not valid), as the first nodes of a loop are:
  // what comes around is made later. InvalidArgument unless `from` is a NextIteration of this graph with the Merge's
  // dtype. Until all are set nothing else may look at the Merge's inputs.
  Status CloseLoop(Node* merge, int input, Output from);
  // Adds to a node that exists (used by loops in graphs and by rewrites).
  void AddControlEdge(Node* from, Node* to);
  // Takes back the nodes from the count-th on. REQUIRES: no earlier node, scope or collection refers to them.
  void RemoveFrom(size_t count);
  // Called by the constructor of Variable.
  void AddVariable(Variable variable) { variables_.push_back(std::move(variable)); }
  bool in_control_scope() const { return !control_scopes_.empty(); }

 private:
  friend class Graph;
  struct DeviceScope {
    std::string name;
    DeviceFunction function;
    bool reset = false;
  };
  struct ControlScope {
    std::vector<Node*> nodes;
    bool reset = false;
  };
  std::string DeviceFor(const Node& node) const;

  Graph* self_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::string, Node*, std::less<>> by_name_;
  std::map<std::string, int> name_uses_;  // of lower-cased full names, as TensorFlow counts them
  std::vector<DeviceScope> device_scopes_;
  std::vector<std::string> name_scopes_;  // full prefixes, without the last "/"
  std::vector<ControlScope> control_scopes_;
  std::vector<Node*> colocation_scopes_;
  Status status_;
  int64_t seed_ = 0;
  std::string finalized_by_;
  std::map<std::string, std::vector<Output>> collections_;
  std::vector<Variable> variables_;
  std::shared_ptr<const FunctionLibrary> functions_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_NODE_H_
