// The registered ops: their arguments, attributes, shape rules and gradients.
//
// An op is one entry in the Register… function of its family in src/ops:
//
//   r.Add(Op("MatMul").Input("a: T").Input("b: T").Output("product: T")
//             .Attr("transpose_a: bool = false").Attr("transpose_b: bool = false")
//             .Attr("T: {float, double, half, bfloat16, int32, int64}")
//             .Shape(MatMulShape).Gradient(MatMulGradient));
//
// The specification syntax is TensorFlow's, so that its op definitions can be compared with these line by line.
#ifndef TENSORBRAID_GRAPH_MODEL_OP_REGISTRY_H_
#define TENSORBRAID_GRAPH_MODEL_OP_REGISTRY_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

class Node;
class ShapeContext;

// A shape rule: sets what is known of the output shapes, or returns an error if the inputs are not valid.
using ShapeFn = Status (*)(ShapeContext& c);

// Adds the ops that compute the gradients of the inputs of `op` from the gradients of its outputs. An invalid Output in
// `grads` stands for zero: what is differentiated does not depend on that output. `*input_grads` has one invalid Output
// per input when the function is called; an entry that stays invalid means that no gradient flows to that input.
using GradientFn = Status (*)(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads);

// Like GradientFn, for an op whose gradients may be slices. `grads` may have slices as well.
using SparseGradientFn = Status (*)(const Operation& op, const std::vector<Gradient>& grads,
                                    std::vector<Gradient>* input_grads);

// "a: T", "values: N * T", "handle: resource", "ref: Ref(T)", "components: Tcomponents".
struct ArgDef {
  std::string name;
  DType type = DType::kInvalid;  // fixed type; kInvalid if an attribute below decides it
  std::string type_attr;         // T: the attribute that has the type
  std::string number_attr;       // N: the attribute that has the number of tensors of that type
  std::string type_list_attr;    // an attribute of type list(type): one tensor of each type
  bool is_ref = false;
};

struct AttrDef {
  std::string name;
  std::string type;  // string, int, float, bool, type, shape, tensor, func, list(...)
  std::optional<AttrValue> default_value;
  std::vector<DType> allowed_types;          // for type and list(type); empty: all are allowed
  std::vector<std::string> allowed_strings;  // for string; empty: all are allowed
  std::optional<int64_t> minimum;            // of the value of an int, or of the length of a list
};

struct OpDef {
  std::string name;
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  std::vector<AttrDef> attrs;
  bool is_stateful = false;
  bool is_impure = false;         // see Op::Impure
  ShapeFn shape_fn = nullptr;     // null: output shapes are unknown
  GradientFn gradient = nullptr;  // null: no gradient is defined, except by sparse_gradient
  SparseGradientFn sparse_gradient = nullptr;
  bool not_differentiable = false;  // gradients stop here without an error
  bool has_gradient() const { return gradient != nullptr || sparse_gradient != nullptr; }
  std::string_view file;  // the file that calls OpRegistry::Add, relative to src: "ops/math/binary.cc"
  // Whether the outputs depend only on the values of the inputs and attributes, and running the op has no effects.
  // Nodes of a pure op may be folded, merged with equal nodes, and dropped if nothing uses their outputs. (A node also
  // needs inputs and outputs that are values; see IsPure in executor/passes/pass.h.)
  bool is_pure() const { return !is_stateful && !is_impure; }
  const AttrDef* FindAttr(std::string_view attr) const;
};

class Op {
 public:
  explicit Op(std::string name) { def_.name = std::move(name); }
  Op& Input(const char* spec);
  Op& Output(const char* spec);
  Op& Attr(const char* spec);
  // The op has side effects or state: its nodes are never folded or merged with equal nodes.
  Op& Stateful() {
    def_.is_stateful = true;
    return *this;
  }
  // The op is not stateful in TensorFlow's definition, but not pure either: it reads something that is not an input and
  // may change between runs (a file), or changes an input in place.
  Op& Impure() {
    def_.is_impure = true;
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
  Op& Gradient(SparseGradientFn fn) {
    def_.sparse_gradient = fn;
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

// Immutable once built. REQUIRES (Add): the op is well-formed and not yet registered (checked; ends the program if
// not).
class OpRegistry {
 public:
  void Add(const Op& op, std::source_location location = std::source_location::current());
  // Returns null if the op does not exist. Finds the ops in AddedOps, too. The result stays valid.
  const OpDef* Find(std::string_view op) const;
  // With those in AddedOps.
  std::vector<std::string> names() const;
  // All ops of src/ops; see ops/register.cc.
  static const OpRegistry& Global();

 private:
  std::map<std::string, OpDef, std::less<>> ops_;
};

// The ops that programs and loaded libraries have added to this process since it started. Ops are never removed.
// Thread-safe.
class AddedOps {
 public:
  // REQUIRES: no op has the name of one of these (checked).
  static void Add(std::vector<std::shared_ptr<const OpDef>> ops);
  // Returns null if the op does not exist.
  static const OpDef* Find(std::string_view op);
  static std::vector<std::string> names();
};

// The interface between a shape rule and a node: reads the inputs and attributes, and sets the output shapes.
class ShapeContext {
 public:
  ShapeContext(const Node& node, std::vector<Shape>* outputs) : node_(node), outputs_(*outputs) {}

  const Node& node() const { return node_; }
  int num_inputs() const;
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Shape& input(int i) const;
  DType input_dtype(int i) const;
  // Returns the value of an input if it is known before the graph runs, else an invalid tensor.
  Tensor input_value(int i) const;
  // Returns the shape that the value of a vector input (of Reshape, Fill, ...) describes, as far as it is known.
  StatusOr<class Shape> input_as_shape(int i) const;
  // The shape and dtype that VarHandleOp declares for the variable of a resource input. Unknown shape and kInvalid if
  // the input does not come from a VarHandleOp.
  class Shape input_handle_shape(int i) const;
  DType input_handle_dtype(int i) const;

  void set_output(int i, class Shape shape) { outputs_[i] = std::move(shape); }

  // REQUIRES: the op has an attribute of that name and type (checked).
  template <typename T>
  const T& attr(std::string_view name) const;

  // Returns the shape of the input; if its rank is unknown, WithRank returns a shape of that rank with unknown sizes.
  // InvalidArgument if the input cannot have that rank.
  StatusOr<class Shape> WithRank(int input, int rank) const;
  StatusOr<class Shape> WithRankAtLeast(int input, int rank) const;

 private:
  const Node& node_;
  std::vector<class Shape>& outputs_;
};

// Shape rules that many ops share.
Status UnchangedShape(ShapeContext& c);  // output 0 has the shape of input 0
Status ScalarShape(ShapeContext& c);     // every output is a scalar
Status UnknownShape(ShapeContext& c);    // output shapes are unknown
Status NoOutputs(ShapeContext& c);       // for ops without outputs
Status BroadcastShape(ShapeContext& c);  // NumPy's broadcasting of inputs 0 and 1
// The shape that two shapes broadcast to by NumPy's rules; InvalidArgument if they are not compatible.
StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_OP_REGISTRY_H_
