// Random tensors.
//
// Each node has its own counter-based generator (Philox). Its seed combines the op's seed (0: none) and the graph's
// (Graph::SetRandomSeed); if neither is set, values differ from run to run. Equal seeds give equal sequences of values
// on every run, whatever the number of threads. The ops are not differentiable, except RandomCrop.
#ifndef TENSORBRAID_OPS_RANDOM_H_
#define TENSORBRAID_OPS_RANDOM_H_

#include <source_location>
#include <string>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {

struct RandomOptions {
  DType dtype = kFloat32;  // must be a floating dtype: float16, bfloat16, float32 or float64
  int64_t seed = 0;
  std::string name = {};
};

// The shape of a random tensor: fixed, or an int32 or int64 vector of the graph.
class RandomShape {
 public:
  RandomShape(std::initializer_list<int64_t> dims) : operand_(Constant(Shape(dims))) {}
  RandomShape(const Shape& shape) : operand_(Constant(shape)) {}  // NOLINT: converts. REQUIRES: fully defined
  RandomShape(Output shape) : operand_(shape) {}                  // NOLINT: converts
  const Operand& operand() const { return operand_; }

 private:
  static Tensor Constant(const Shape& shape);
  Operand operand_;
};

// Uniform in [low, high).
Output RandomUniform(Graph& graph, const RandomShape& shape, double low, double high, const RandomOptions& options = {},
                     std::source_location loc = std::source_location::current());
// Uniform in [0, 1).
Output RandomUniform(Graph& graph, const RandomShape& shape, const RandomOptions& options = {},
                     std::source_location loc = std::source_location::current());
// Normally distributed.
Output RandomNormal(Graph& graph, const RandomShape& shape, double mean = 0.0, double stddev = 1.0,
                    const RandomOptions& options = {}, std::source_location loc = std::source_location::current());
// Normally distributed; values more than two standard deviations from the mean are drawn again.
Output TruncatedNormal(Graph& graph, const RandomShape& shape, double mean, double stddev,
                       const RandomOptions& options = {}, std::source_location loc = std::source_location::current());
// Uniform integers in [low, high). The bounds give the dtype, int32 or int64. A step fails with InvalidArgument
// if low >= high.
Output RandomUniformInt(Graph& graph, const RandomShape& shape, const Operand& low, const Operand& high,
                        int64_t seed = 0, const std::string& name = "",
                        std::source_location loc = std::source_location::current());
// The rows of `value`, which may have any dtype, in a random order.
Output RandomShuffle(const Operand& value, int64_t seed = 0, const std::string& name = "");
// `num_samples` classes for each row of `logits` [batch, classes], drawn with the probabilities softmax(logits): int64
// [batch, num_samples].
Output Multinomial(const Operand& logits, const Operand& num_samples, int64_t seed = 0, const std::string& name = "");
// A part of `value` of the given size, at a random place. A step fails with InvalidArgument if `size` is larger than
// the shape of `value`. The gradient is that of Slice.
Output RandomCrop(const Operand& value, const Integers& size, int64_t seed = 0, const std::string& name = "");

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_RANDOM_H_
