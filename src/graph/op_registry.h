// What ops exist: their arguments, attributes, shape rules and gradients.
//
// An op is one entry in the Register… function of its family in src/ops:
//
//   r.Add(Op("MatMul").Input("a: T").Input("b: T").Output("product: T")
//             .Attr("transpose_a: bool = false").Attr("transpose_b: bool = false")
//             .Attr("T: {float, double, half, bfloat16, int32, int64}")
//             .Shape(MatMulShape).Gradient(MatMulGradient));
//
// The little language is TensorFlow's, so that its op definitions can be read side by side with ours.
#ifndef TENSORBRAID_GRAPH_OP_REGISTRY_H_
#define TENSORBRAID_GRAPH_OP_REGISTRY_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensorbraid/graph.h"

namespace tensorbraid {

class Node;
class ShapeContext;

// Says what is known of the output shapes, or why the inputs cannot be.
using ShapeFn = Status (*)(ShapeContext& c);

// Adds the ops that compute the gradients of `op`'s inputs from those of its outputs. An invalid Output in `grads`
// stands for zero (no y depends on that output); an invalid one in `*input_grads` says that nothing flows to that
// input. `input_grads` comes with one (invalid) entry per input.
using GradientFn = Status (*)(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads);

// "a: T", "values: N * T", "handle: resource", "ref: Ref(T)", "components: Tcomponents".
struct ArgDef {
  std::string name;
  DType type = DType::kInvalid;  // fixed type, or kInvalid when one of the following says it
  std::string type_attr;         // T
  std::string number_attr;       // N: so many tensors of the type
  std::string type_list_attr;    // an attribute of list(type): one tensor of each
  bool is_ref = false;
};

struct AttrDef {
  std::string name;
  std::string type;  // string, int, float, bool, type, shape, tensor, func, list(...)
  std::optional<AttrValue> default_value;
  std::vector<DType> allowed_types;          // for type and list(type); empty: all
  std::vector<std::string> allowed_strings;  // for string; empty: all
  std::optional<int64_t> minimum;            // of an int, or of a list's length
};

struct OpDef {
  std::string name;
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  std::vector<AttrDef> attrs;
  bool is_stateful = false;
  ShapeFn shape_fn = nullptr;       // null: nothing is known
  GradientFn gradient = nullptr;    // null: none is defined
  bool not_differentiable = false;  // by nature: gradients stop here silently
  const AttrDef* FindAttr(std::string_view attr) const;
};

class Op {
 public:
  explicit Op(std::string name) { def_.name = std::move(name); }
  Op& Input(const char* spec);
  Op& Output(const char* spec);
  Op& Attr(const char* spec);
  // The op has effects or state: it is never folded, shared or dropped as a duplicate.
  Op& Stateful() {
    def_.is_stateful = true;
    return *this;
  }
  Op& Shape(ShapeFn fn) {
    def_.shape_fn = fn;
    return *this;
  }
  Op& Gradient(GradientFn fn) {
    def_.gradient = fn;
    return *this;
  }
  Op& NotDifferentiable() {
    def_.not_differentiable = true;
    return *this;
  }

 private:
  friend class OpRegistry;
  OpDef def_;
};

// Immutable once built. REQUIRES (Add): a well-formed, new entry (checked: a mistake here is a broken program).
class OpRegistry {
 public:
  void Add(const Op& op);
  // Null when there is no such op.
  const OpDef* Find(std::string_view op) const;
  std::vector<std::string> names() const;
  // All ops of src/ops; see ops/register.cc.
  static const OpRegistry& Global();

 private:
  std::map<std::string, OpDef, std::less<>> ops_;
};

// What a shape rule sees of a node and says of it.
class ShapeContext {
 public:
  ShapeContext(const Node& node, std::vector<Shape>* outputs) : node_(node), outputs_(*outputs) {}

  const Node& node() const { return node_; }
  int num_inputs() const;
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Shape& input(int i) const;
  DType input_dtype(int i) const;
  // The value of an input when it is known before running, else an invalid tensor.
  Tensor input_value(int i) const;
  // The shape that a vector input (of a reshape, fill, ...) describes, as far as it is known.
  StatusOr<class Shape> input_as_shape(int i) const;
  // What VarHandleOp said of the variable that a resource input names; unknown shape if it does not come from one.
  class Shape input_handle_shape(int i) const;
  DType input_handle_dtype(int i) const;

  void set_output(int i, class Shape shape) { outputs_[i] = std::move(shape); }

  // REQUIRES: the op has such an attribute of that type (checked).
  template <typename T>
  const T& attr(std::string_view name) const;

  // InvalidArgument unless the input can have that rank; unknown sizes filled in where nothing is known.
  StatusOr<class Shape> WithRank(int input, int rank) const;
  StatusOr<class Shape> WithRankAtLeast(int input, int rank) const;

 private:
  const Node& node_;
  std::vector<class Shape>& outputs_;
};

// Shape rules that many ops share.
Status UnchangedShape(ShapeContext& c);  // output 0 has the shape of input 0
Status ScalarShape(ShapeContext& c);     // every output is a scalar
Status UnknownShape(ShapeContext& c);    // nothing is known
Status NoOutputs(ShapeContext& c);       // for ops without outputs
Status BroadcastShape(ShapeContext& c);  // NumPy's broadcasting of inputs 0 and 1
// NumPy broadcasting of two shapes; InvalidArgument when they do not fit.
StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_OP_REGISTRY_H_
