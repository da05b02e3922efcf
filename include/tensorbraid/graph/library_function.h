// Library functions: parts of a graph that calls and other ops, such as those of datasets, run by name.
//
//   auto scale = DefineFunction(g, "scale", {{kFloat32, {-1}}}, [&](Graph&, const std::vector<Output>& args) {
//     return std::vector<Output>{args[0] * factor};      // `factor`, a tensor of g, is captured
//   });
//   Output y = CallFunction(g, scale, {x})[0];
//
// The body is a graph of its own. A tensor of an outer graph that a node of the body takes is captured: it becomes one
// more argument, for which calls give this tensor. So its value is that of the step that calls the function or, for a
// function of a dataset, of the step that makes the iterator. A variable is captured as its value or, by its handle, as
// the variable itself. Variables cannot be made in a body, and a node of the body cannot have an outer node as control
// input. Functions may be defined and called in bodies, but may not call themselves.
//
// Mistakes are recorded in the outer graph, as those of ops are. Threads: as for a Graph.
#ifndef TENSORBRAID_GRAPH_LIBRARY_FUNCTION_H_
#define TENSORBRAID_GRAPH_LIBRARY_FUNCTION_H_

#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// What is known of a tensor before it is computed.
struct TensorSpec {
  DType dtype = kFloat32;
  Shape shape = Shape::Unknown();
};

// A function in the library of a graph. A handle: copies refer to the same function. Not valid after a mistake.
class LibraryFunction {
 public:
  LibraryFunction() = default;
  bool valid() const { return data_ != nullptr; }
  const std::string& name() const;
  const std::vector<TensorSpec>& args() const;     // without the captures
  const std::vector<TensorSpec>& results() const;  // shapes as far as the body determines them
  // The tensors of the outer graph that calls give behind the arguments.
  const std::vector<Output>& captures() const;
  bool is_stateful() const;  // whether the body has a stateful node
  // The value for an attribute of type "func".
  AttrValue attr() const;

 private:
  friend class FunctionBuilder;
  struct Data;
  explicit LibraryFunction(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

// How the body gets a tensor of an outer graph.
enum class Capture {
  kAsArgument,  // from the caller, see above
  // The body has a copy of the nodes that compute the tensor, without their control inputs. InvalidArgument, if one of
  // them is a placeholder, has state or is a control flow op. Ops of datasets may have state.
  kAsCopy,
};

// Adds the nodes of a body to `graph`, and returns the results.
using BodyFunction = std::function<std::vector<Output>(Graph& graph, const std::vector<Output>& args)>;

// Calls `body`, and adds the function that it builds to the library of `graph`. A number is appended to `name` if an op
// or a function has it. The random seed of the body is that of `graph`. Stateful nodes of the body always run;
// other nodes run if a result needs them. InvalidArgument if `body` makes a variable, or a result is not valid. Source:
// Defun, tf.function.
LibraryFunction DefineFunction(Graph& graph, const std::string& name, const std::vector<TensorSpec>& args,
                               const BodyFunction& body, Capture capture = Capture::kAsArgument,
                               std::source_location loc = std::source_location::current());

// Calls a function that was defined in `graph` or in a graph around it. Returns its results. Differentiable if the
// function is not stateful. InvalidArgument if the number or the dtypes of the inputs do not match.
std::vector<Output> CallFunction(Graph& graph, const LibraryFunction& function, const std::vector<Operand>& inputs,
                                 const std::string& name = "",
                                 std::source_location loc = std::source_location::current());

// DefineFunction in steps, for callers that build the body outside of a C++ function, such as bindings of other
// languages.
class FunctionBuilder {
 public:
  // Adds arguments to `body`, an empty graph that becomes the body. REQUIRES: both graphs exist until Finish returns,
  // or until the builder is destroyed.
  FunctionBuilder(Graph& outer, Graph& body, const std::string& name, const std::vector<TensorSpec>& args,
                  Capture capture = Capture::kAsArgument, std::source_location loc = std::source_location::current());
  ~FunctionBuilder();
  FunctionBuilder(const FunctionBuilder&) = delete;
  FunctionBuilder& operator=(const FunctionBuilder&) = delete;

  const std::vector<Output>& args() const;
  // Adds the function to the library of the outer graph. Nothing is captured from then on. Call it once.
  LibraryFunction Finish(const std::vector<Output>& results);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_LIBRARY_FUNCTION_H_
