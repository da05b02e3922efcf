// The nodes of graphs.
#ifndef TENSORBRAID_GRAPH_MODEL_NODE_H_
#define TENSORBRAID_GRAPH_MODEL_NODE_H_

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/model/handles.h"
#include "graph/model/op_registry.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

class FunctionLibrary;
struct FlowContext;  // flow_context.h

// The graph and the program's handles share the ownership of a node. A handle may keep its node longer than the graph
// exists; the node then has its description, but no inputs and no graph. Handles do not own the graph, because nodes
// have handles of their inputs: the graph would own itself.
class Node : public std::enable_shared_from_this<Node> {
 public:
  // Position among the graph's nodes. Ids rise along every edge except a back edge (NextIteration to Merge).
  int id() const { return id_; }
  const std::string& name() const { return name_; }
  const OpDef& op() const { return *op_; }
  const std::string& type() const { return op_->name; }
  Graph* graph() const;  // null if the graph has been destroyed, or the node removed from it
  // FailedPrecondition if the graph has been destroyed.
  Status CheckGraphExists() const;

  const std::vector<Output>& inputs() const { return inputs_; }
  const std::vector<Node*>& control_inputs() const { return control_inputs_; }
  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DType input_type(int i) const { return NodeOf(inputs_[i])->output_type(inputs_[i].index()); }
  DType output_type(int i) const { return output_types_[i]; }
  const std::vector<DType>& output_types() const { return output_types_; }
  // The reference stays valid as long as the node; a shape that is refined later has another address. Thread-safe.
  const Shape& output_shape(int i) const {
    const std::vector<Shape>* const refined = refined_.now.load(std::memory_order_acquire);
    return refined == nullptr ? output_shapes_[i] : (*refined)[i];
  }
  // The declared type of input i: a reference type if the op takes the variable itself.
  DType declared_input_type(int i) const { return declared_input_types_[i]; }
  // Returns the range [begin, end) of inputs that belong to argument `arg` of the op.
  std::pair<int, int> InputRange(int arg) const;

  const std::string& device() const { return device_; }
  void set_device(std::string device) { device_ = std::move(device); }
  // Names of the nodes that this one must be placed with ("_class": "loc:@name").
  std::vector<std::string> colocated_with() const;

  const std::map<std::string, AttrValue, std::less<>>& attrs() const { return attrs_; }
  const AttrValue* FindAttr(std::string_view name) const;
  // REQUIRES: the node has the attribute, with type T (checked). This holds for every attribute that the op declares.
  template <typename T>
  const T& attr(std::string_view name) const {
    const AttrValue* a = FindAttr(name);
    const T* v = a == nullptr ? nullptr : a->get<T>();
    if (v == nullptr) MissingAttr(name);
    return *v;
  }
  // The innermost branch or loop that the node's outputs belong to; null: none, or the node is from a GraphDef whose
  // branches and loops have not been found. For an output of a Switch see ContextOf in control_flow/flow_context.h.
  FlowContext* flow_context() const { return flow_context_; }
  // The line of the user's source where the node was created; none for nodes from a GraphDef.
  const std::optional<SourceLine>& line() const { return line_; }
  // Where in the user's source the node was created: "model.cc:12"; "" for nodes from a GraphDef.
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
  std::optional<SourceLine> line_;
  FlowContext* flow_context_ = nullptr;
  // What RefineShape has made of output_shapes_. Other threads may still read the earlier shapes, so they are kept.
  struct RefinedShapes {
    std::vector<Shape> shapes;
    std::shared_ptr<const RefinedShapes> earlier;
  };
  struct Refined {
    Refined() = default;
    Refined(const Refined& o) : all(o.all), now(o.now.load()) {}
    Refined& operator=(const Refined& o) {
      if (this == &o) return *this;
      all = o.all;
      now = o.now.load();
      return *this;
    }
    std::shared_ptr<const RefinedShapes> all;
    std::atomic<const std::vector<Shape>*> now{nullptr};  // null: output_shapes_
  };
  Refined refined_;
  // Set if the node has lost its graph and its op is a function: owns *op_.
  std::shared_ptr<const FunctionLibrary> kept_functions_;
};

template <typename T>
const T& ShapeContext::attr(std::string_view name) const {
  return node_.attr<T>(name);
}

// The specification of a new node, not yet checked. `inputs` has the inputs of all arguments, flattened.
struct NodeSpec {
  std::string name;  // used as it is, so it must be unique; "" stands for the name of the op
  std::string op;
  std::vector<Output> inputs;
  std::vector<Node*> controls;
  // Attributes that the op declares, and any whose name begins with "_". Those with a default, and those that follow
  // from the inputs, may be missing.
  std::map<std::string, AttrValue> attrs;
  std::string device;
  std::optional<SourceLine> line = std::nullopt;  // of the user's source; none for nodes from a GraphDef
  FlowContext* flow_context = nullptr;            // that the node belongs to
  // If set, an error of the shape rule does not fail AddNode: the output shapes are unknown, and the kernel reports the
  // error if the node ever runs.
  bool defer_shape_errors = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_NODE_H_
