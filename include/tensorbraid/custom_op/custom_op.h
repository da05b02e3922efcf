// Definitions of custom ops.
//
//   Status registered = RegisterOp(CustomOp("ScaledTanh")
//       .Input("x: T").Output("y: T").Attr("T: {float, double}").Attr("scale: float = 1.0")
//       .Doc("y = scale * tanh(x), element by element.")
//       .Shape([](OpShapeContext& c) { c.set_output(0, c.input(0)); return OkStatus(); })
//       .Gradient([](const Operation& op, const std::vector<Output>& grads) { ... })
//       .Kernel<ScaledTanhKernel<float>>({{"T", {kFloat32}}})
//       .Kernel<ScaledTanhKernel<double>>({{"T", {kFloat64}}}));
//
//   auto y = NodeBuilder(g, "ScaledTanh").Input(x).Attr("scale", 2.0).Output();
//
// Rules that throw an exception fail like those that return an error.
#ifndef TENSORBRAID_CUSTOM_OP_CUSTOM_OP_H_
#define TENSORBRAID_CUSTOM_OP_CUSTOM_OP_H_

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"
#include "tensorbraid/custom_op/op_kernel.h"
#include "tensorbraid/graph/custom_gradient.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

class ShapeContext;

// What a shape rule reads and sets. It runs when a node is added to a graph. Functions that take an index throw
// std::logic_error if the node has no such input or output.
class OpShapeContext {
 public:
  explicit OpShapeContext(ShapeContext& context) : context_(context) {}
  const std::string& node_name() const;
  int num_inputs() const;
  int num_outputs() const;
  const Shape& input(int i) const;  // as far as it is known
  DType input_dtype(int i) const;
  // The value of an input if it is known before the graph runs, as that of a constant is, else an invalid tensor.
  Tensor input_value(int i) const;
  // The shape that the value of a vector input describes, as far as it is known.
  StatusOr<Shape> input_as_shape(int i) const;
  // The shape of an input that must have this rank, or at least this rank: InvalidArgument if it has not. An unknown
  // shape becomes one of that rank with unknown sizes in WithRank, and stays unknown in WithRankAtLeast.
  StatusOr<Shape> WithRank(int input, int rank) const;
  StatusOr<Shape> WithRankAtLeast(int input, int rank) const;
  template <typename T>
  const T& attr(std::string_view name) const {  // as OpKernelConstruction::attr
    return internal::AttrOf<T>(node(), name);
  }
  void set_output(int i, Shape shape);

 private:
  const Node& node() const;
  void CheckInput(int i) const;

  ShapeContext& context_;
};

using OpShapeFunction = std::function<Status(OpShapeContext& c)>;
// The dtypes for which a kernel is: {{"T", {kFloat32, kFloat64}}}. Attributes that are not listed may have any value.
using OpKernelTypes = std::map<std::string, std::vector<DType>>;
using OpKernelFactory = std::function<StatusOr<std::unique_ptr<OpKernel>>(const OpKernelConstruction&)>;

// The definition of an op. Specifications have TensorFlow's syntax. Mistakes in it are reported by RegisterOp.
//
// Functions that are given to it must be thread-safe, since nodes of the op may be added to several graphs at once.
// They live as long as the process.
class CustomOp {
 public:
  // Like the names of TensorFlow's ops, the name consists of letters, digits and _, and begins with a capital letter.
  // Clients of TensorFlow can use the op if TensorFlow has an op of that name and the same definition.
  explicit CustomOp(std::string name);

  // "x: T", "ids: int64", "values: N * T", "components: Ts", "table: resource".
  CustomOp& Input(std::string spec);
  CustomOp& Output(std::string spec);
  // "T: {float, double}", "N: int >= 1", "mode: {'same', 'valid'} = 'same'", "axis: int = -1", "Ts: list(type)". The
  // type of "T: type" is not restricted. An attribute that is the type or the number of an input follows from the
  // input.
  CustomOp& Attr(std::string spec);
  // What the op computes. It becomes the documentation of the op's function in Python.
  CustomOp& Doc(std::string text);

  // The op has effects, keeps a state, or gives different results for the same inputs. Without this, a node may be
  // computed once when the session is made, merged with an equal node, or dropped.
  CustomOp& Stateful();
  // An error of the rule is the error of adding a node. Without a rule, nothing is known of the shapes of the outputs.
  CustomOp& Shape(OpShapeFunction rule);
  // Adds nodes that compute the gradients of the inputs; see GradientFunction. To report an error, it calls
  // op.graph()->AddError. Inputs and attributes of the node are op.input(i) and op.attr(name). Without a gradient, an
  // attempt to differentiate the op is an error.
  CustomOp& Gradient(GradientFunction gradient);
  // No gradient flows through the op.
  CustomOp& NotDifferentiable();
  // An estimate of the work: operations for each element of the largest input or output; 1 by default. Runs that take
  // longer than about 50 µs leave the thread that handles messages to other tasks.
  CustomOp& Cost(double flops_per_element);

  // A kernel for nodes with these dtypes: a class derived from OpKernel. If it has a static function
  // `Create(const OpKernelConstruction&)`, this function makes the kernel, and may return an error. Otherwise it has a
  // constructor with that parameter, or with none. Of several kernels that fit a node, the first one is used. A process
  // without a kernel can build graphs with the op, but not run them.
  template <std::derived_from<OpKernel> K>
  CustomOp& Kernel(OpKernelTypes types = {}) {
    return Kernel(std::move(types), [](const OpKernelConstruction& c) -> StatusOr<std::unique_ptr<OpKernel>> {
      if constexpr (requires { K::Create(c); }) {
        return K::Create(c);
      } else if constexpr (std::is_constructible_v<K, const OpKernelConstruction&>) {
        return std::unique_ptr<OpKernel>(std::make_unique<K>(c));
      } else {
        return std::unique_ptr<OpKernel>(std::make_unique<K>());
      }
    });
  }
  CustomOp& Kernel(OpKernelTypes types, OpKernelFactory create);
  // A kernel that is a function of the context.
  CustomOp& KernelFunction(OpKernelTypes types, std::function<Status(OpKernelContext& c)> compute);

 private:
  friend class CustomOps;
  struct KernelOfTypes {
    OpKernelTypes types;
    OpKernelFactory create;
  };
  std::string name_;
  std::vector<std::string> inputs_, outputs_, attrs_;
  std::string doc_;
  bool stateful_ = false;
  bool not_differentiable_ = false;
  OpShapeFunction shape_;
  GradientFunction gradient_;
  double flops_per_element_ = 1;
  std::vector<KernelOfTypes> kernels_;
};

// Adds an op to this process, for all its graphs and servers. It stays until the process ends. Thread-safe.
// InvalidArgument for a mistake in the definition, AlreadyExists if an op of that name exists.
Status RegisterOp(CustomOp op);
// Adds all of these ops, or none of them if there is an error.
Status RegisterOps(std::vector<CustomOp> ops);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CUSTOM_OP_CUSTOM_OP_H_
