// Ops that print and check values while a step runs, and that read files.
#ifndef TENSORBRAID_OPS_LOGGING_H_
#define TENSORBRAID_OPS_LOGGING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

struct PrintOptions {
  std::string message = {};  // printed before the values
  int64_t first_n = -1;      // how many times the op prints; -1: each time that it runs
  int64_t summarize = 3;     // the number of elements of each tensor; -1: all
  std::string name = {};
};
// Returns `input`, and prints `data` on the standard error of the task that runs the op, each time that it runs.
// `input` and `data` may have any dtype. The gradient passes through unchanged. Source: tf.Print.
Output Print(const Operand& input, const std::vector<Operand>& data, const PrintOptions& options = {});

struct AssertOptions {
  int64_t summarize = 3;  // the number of elements of each tensor in the message; -1: all
  std::string name = {};
};
// A step that runs this operation fails with InvalidArgument, with `data` in the message, if the bool scalar
// `condition` is false. The operation runs if it is fetched or others depend on it:
//
//   auto checked = g.ControlDependencies({Assert(ReduceAll(x > 0), {x})});
Operation Assert(const Operand& condition, const std::vector<Operand>& data, const AssertOptions& options = {});

// The contents of a file, a string scalar. `filename` is a string scalar of the graph. The task that runs the op reads
// the file; the step fails with NotFound if the file does not exist.
Output ReadFile(const Operand& filename, const std::string& name = "");

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LOGGING_H_
