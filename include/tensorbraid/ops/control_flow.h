// Conditionals and loops, built of lambdas that add the nodes of a branch, a condition or a body.
//
//   auto y = Cond(x > 0, [&] { return Sqrt(x); }, [&] { return Output(x * 0.0); });
//   auto v = While({i, sum}, [&](const auto& v) { return Less(v[0], n); },
//                  [&](const auto& v) -> std::vector<Output> { return {v[0] + 1, v[1] + x}; });
//
// A lambda may use any tensor from outside, and variables, which are read when the branch is taken and in each
// iteration. The nodes that it adds run only in a branch that is taken, or once in each iteration; they may be placed
// on any device of any task. Tensors from inside a branch or a loop cannot be used outside; only the results can.
//
// All have gradients, and so have their gradients. The gradient of a loop keeps the tensors of each iteration that it
// needs. A mistake, such as branches with results of different dtypes, is recorded in Graph::status().
//
// They add the nodes of TensorFlow 1 (Switch, Merge, Enter, Exit, NextIteration, LoopCond), which TensorFlow can read.
// Source: Yu et al., Dynamic Control Flow in Large-Scale Machine Learning, 2018.
#ifndef TENSORBRAID_OPS_CONTROL_FLOW_H_
#define TENSORBRAID_OPS_CONTROL_FLOW_H_

#include <concepts>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Adds the nodes of one branch, and returns its results.
using Branch = std::function<std::vector<Output>()>;

// The results of `if_true` if `predicate`, a bool scalar, is true, else those of `if_false`. The branches must return
// equally many tensors, with equal dtypes. Source: tf.cond.
std::vector<Output> Cond(const Operand& predicate, const Branch& if_true, const Branch& if_false,
                         const std::string& name = "cond");
// The same for branches with one result.
template <typename True, typename False>
requires std::convertible_to<std::invoke_result_t<True>, Output> Output Cond(const Operand& predicate,
                                                                             const True& if_true, const False& if_false,
                                                                             const std::string& name = "cond") {
  const std::vector<Output> results = Cond(predicate, Branch([&] { return std::vector<Output>{if_true()}; }),
                                           Branch([&] { return std::vector<Output>{if_false()}; }), name);
  return results.empty() ? Output() : results[0];
}

// The results of the branch of the first predicate that is true; those of `otherwise` if none is. Source: tf.case.
std::vector<Output> Case(const std::vector<std::pair<Output, Branch>>& branches, const Branch& otherwise,
                         const std::string& name = "case");

struct WhileOptions {
  // How many iterations may run at the same time, as far as they do not depend on each other.
  int64_t parallel_iterations = 10;
  // Whether gradients pass through the loop. If false, Gradients treats its results as constants.
  bool back_prop = true;
  // The most iterations; none: no limit.
  std::optional<int64_t> maximum_iterations = std::nullopt;
  // For variables whose shape changes: what is known of the shape of each variable in all iterations. Empty: each keeps
  // the shape that it begins with.
  std::vector<Shape> shape_invariants = {};
  std::string name = "while";
};
using LoopCondition = std::function<Output(const std::vector<Output>&)>;
using LoopBody = std::function<std::vector<Output>(const std::vector<Output>&)>;

// Repeats the body while the condition, a bool scalar, is true. Both get the values of the loop's variables, which
// begin as `initial` (at least one). The body returns their next values, with unchanged dtypes. Returns the values
// after the last iteration. Source: tf.while_loop.
std::vector<Output> While(const std::vector<Output>& initial, const LoopCondition& condition, const LoopBody& body,
                          WhileOptions options = {}, std::source_location loc = std::source_location::current());

struct TensorArrayOptions {
  // What is known of the shape of the elements.
  Shape element_shape = Shape::Unknown();
  // Whether writing behind the end makes the array longer.
  bool dynamic_size = false;
  std::string name = "TensorArray";
};

// An array of tensors of one dtype, for loops. An object is a value, a list of tensors in one tensor: writing returns
// another array, and in a loop the list is a variable of the loop (see WithList). Elements that were not written are
// zeros if the shape of the elements is known. Source: tf.TensorArray as TensorFlow 2 has it; the array of TensorFlow 1
// is a resource, and has no gradients of gradients.
class TensorArray {
 public:
  TensorArray() = default;
  // An array of `size` elements, an int32 scalar.
  TensorArray(Graph& graph, DType dtype, const Operand& size, TensorArrayOptions options = {},
              std::source_location loc = std::source_location::current());

  bool valid() const { return list_.valid(); }
  DType dtype() const { return dtype_; }
  // The list, a variant scalar.
  Output list() const { return list_; }
  TensorArray WithList(Output list) const;

  // A step fails with InvalidArgument if the index is not in the array, unless the array grows.
  TensorArray Write(const Operand& index, const Operand& value) const;
  Output Read(const Operand& index) const;
  // The elements with these indices, an int32 vector, as one tensor with a new first dimension.
  Output Gather(const Operand& indices) const;
  // All elements as one tensor with a new first dimension.
  Output Stack(std::source_location loc = std::source_location::current()) const;
  // All elements, joined along their first dimension.
  Output Concat(std::source_location loc = std::source_location::current()) const;
  // Writes the slices of `value` along its first dimension to the elements with these indices.
  TensorArray Scatter(const Operand& indices, const Operand& value) const;
  // An array of the slices of `value` along its first dimension.
  TensorArray Unstack(const Operand& value) const;
  // An array of the parts of `value` with these lengths (an int64 vector) along its first dimension.
  TensorArray Split(const Operand& value, const Operand& lengths) const;
  // The number of elements, an int32 scalar.
  Output Size(std::source_location loc = std::source_location::current()) const;

 private:
  DType dtype_ = DType::kInvalid;
  Shape element_shape_ = Shape::Unknown();
  bool dynamic_size_ = false;
  Output list_;
};

// The tensors that `function` makes of each slice of `elements` along the first dimension, stacked. All elements have
// equally many slices. `dtypes` are those of the results; empty: those of the elements. Iterations run at the same
// time, as far as `parallel_iterations` allows. Source: tf.map_fn.
std::vector<Output> MapFn(const LoopBody& function, const std::vector<Output>& elements, std::vector<DType> dtypes = {},
                          WhileOptions options = {.name = "map"},
                          std::source_location loc = std::source_location::current());
// Combines the slices of `elements` one after the other with an accumulated value, which begins as `initial`:
// function({accumulated..., slices...}) returns the next accumulated values. Returns the last ones. Source: tf.foldl.
std::vector<Output> Foldl(const LoopBody& function, const std::vector<Output>& elements,
                          const std::vector<Output>& initial, WhileOptions options = {.name = "foldl"},
                          std::source_location loc = std::source_location::current());
// As Foldl, but returns the accumulated values after each slice, stacked. Source: tf.scan.
std::vector<Output> Scan(const LoopBody& function, const std::vector<Output>& elements,
                         const std::vector<Output>& initial, WhileOptions options = {.name = "scan"},
                         std::source_location loc = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_CONTROL_FLOW_H_
