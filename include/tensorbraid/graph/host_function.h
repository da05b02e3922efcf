// An op that calls a function of the program.
#ifndef TENSORBRAID_GRAPH_HOST_FUNCTION_H_
#define TENSORBRAID_GRAPH_HOST_FUNCTION_H_

#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Computes the outputs from the inputs. Called on a thread of the library, by several steps at once. It may block. Its
// error is the error of the step; OutOfRange ends a sequence (data/dataset.h).
using HostFunction = std::function<StatusOr<std::vector<Tensor>>(const std::vector<Tensor>& inputs)>;

struct HostFunctionOptions {
  // False: the function has no effects, and equal inputs give equal outputs. Steps may then call it less often.
  bool stateful = true;
  std::string name = {};
};

// Adds an operation that calls `function` in each step that needs it or one of its outputs, which have the given dtypes
// and unknown shapes. The inputs may be of any dtypes. `graph` is the graph of the inputs: inside of a function of a
// dataset or of a loop, the graph of its arguments. The function lives as long as the graph.
//
// The op must run in this process: in a local session, or on a task that this process has started. On other tasks
// steps fail with FailedPrecondition. They fail with InvalidArgument if the number or the dtypes of the outputs are
// others, and with Unknown if the function throws. Has no gradient; see CustomGradient. Source: tf.py_func.
Operation CallHostFunction(Graph& graph, HostFunction function, const std::vector<Operand>& inputs,
                           const std::vector<DType>& dtypes, const HostFunctionOptions& options = {},
                           std::source_location loc = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_HOST_FUNCTION_H_
