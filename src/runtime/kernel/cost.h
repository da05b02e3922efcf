// Estimates the cost of one run of a kernel from the shapes of its inputs. The executor uses the estimate when it
// decides whether to run a node on the current thread or on another one (executor/scheduling.h).
#ifndef TENSORBRAID_RUNTIME_KERNEL_COST_H_
#define TENSORBRAID_RUNTIME_KERNEL_COST_H_

#include <span>
#include <string_view>

#include "tensorbraid/core/shape.h"

namespace tensorbraid {

class Node;
struct Entry;

// The work of one run of a kernel. The numbers are estimates: only their order of magnitude matters.
struct Cost {
  double bytes = 0;  // read and written
  double flops = 0;  // arithmetic operations of vectorised loops; see kScalarFlops for other operations
};

// An operation in a loop that is not vectorised (a division, a branch, an access at an index) is counted as this many
// flops.
inline constexpr double kScalarFlops = 25;

// The time in nanoseconds that the work takes on one core, at about 20 GB/s and 50 GFLOP/s.
inline double EstimatedNs(const Cost& cost) { return cost.bytes * 0.05 + cost.flops * 0.02; }
// The flops that take this time.
constexpr double FlopsOfNs(double ns) { return ns / 0.02; }

// The information about a node that a cost function may use. Sizes that are unknown are 0, so a cost is then a lower
// bound. Indices and ranks have not been checked; an axis that does not exist has size 0.
class CostContext {
 public:
  // Before any step: shapes are those that were inferred for the graph.
  explicit CostContext(const Node& node) : node_(node) {}
  // For one run: inputs have their real shapes. Outputs, and inputs that are references, have the inferred shapes.
  CostContext(const Node& node, std::span<const Entry> inputs) : node_(node), inputs_(inputs) {}

  const Node& node() const { return node_; }
  int num_inputs() const;
  int num_outputs() const;
  double input_elements(int i) const;
  double input_bytes(int i) const;  // for strings, the size of the string objects
  double output_elements(int i) const;
  double output_bytes(int i) const;
  // Size of an axis of input i; axis -1 is the last.
  double input_dim(int i, int axis) const;
  // The rank of input i; -1 if unknown.
  int input_rank(int i) const;
  // Whether output i has a known size.
  bool knows_output(int i) const;
  // The value of a bool attribute; false if the node has no such attribute.
  bool flag(std::string_view attr) const;

  // Whether the cost function has called this object for the size or rank of an input, and the size or rank was
  // unknown. If so, an estimate for a run in a step, where the shapes of the inputs are known, is better.
  bool lacks_input() const { return lacks_input_; }

 private:
  const Shape& InputShape(int i) const;

  const Node& node_;
  const std::span<const Entry> inputs_;  // empty before a step
  mutable bool lacks_input_ = false;
};

using CostFn = Cost (*)(const CostContext& c);

// Reads all inputs and writes all outputs, with one operation per element. An output of unknown size is assumed to be
// as large as the largest input. Variables that the kernel takes or returns by reference are not counted.
Cost DefaultCost(const CostContext& c);
// For kernels that never take longer than about a microsecond: they do not touch the elements of their inputs.
inline constexpr CostFn kNoCost = nullptr;

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_COST_H_
