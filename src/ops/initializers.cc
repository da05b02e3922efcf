// What variables start with.
#include <cmath>

#include "core/strings.h"
#include "graph/node.h"
#include "tensorbraid/variable.h"

namespace tensorbraid {
namespace {

Output ShapeConst(Graph& g, const Shape& shape) {
  std::vector<int32_t> sizes(shape.dims().begin(), shape.dims().end());
  return NodeBuilder(g, "Const").Name("shape").Attr("value", Tensor::Vector(sizes)).Attr("dtype", kInt32).Output();
}

Output Number(Graph& g, double value, DType dtype) {
  // Integers beyond 2^53 come as tensors; see Constant(Tensor).
  const Operand operand =
      IsInteger(dtype) && value == std::floor(value) ? Operand(static_cast<int64_t>(value)) : Operand(value);
  if (dtype == kBool) return Operand(value != 0).ToOutput(g, kBool);
  return operand.ToOutput(g, dtype);
}

Output Filled(Graph& g, const std::string& name, double value, const Shape& shape, DType dtype) {
  if (dtype == kString) {
    if (value != 0) {
      g.AddError(InvalidArgument("a string variable cannot start as the number ", value));
      return {};
    }
    return NodeBuilder(g, "Const").Name(name).Attr("value", Tensor(kString, shape)).Attr("dtype", kString).Output();
  }
  const std::string full_name = g.impl().UniqueName(name);
  auto scope = g.NameScope(full_name + "/");
  const Output scalar = Number(g, value, dtype);
  if (shape.rank() == 0) return scalar;
  return NodeBuilder(g, "Fill").Name(full_name + "/").Input(ShapeConst(g, shape)).Input(scalar).Output();
}

// As TensorFlow combines them: the graph's seed with the op's, the op's alone with a fixed one, the graph's alone with
// the number of nodes so far. Zeros mean a different seed each time.
std::pair<int64_t, int64_t> Seeds(const Graph& g, int64_t seed) {
  constexpr int64_t kDefaultGraphSeed = 87654321;
  const int64_t graph_seed = g.random_seed();
  if (graph_seed != 0) return {graph_seed, seed != 0 ? seed : static_cast<int64_t>(g.impl().nodes().size())};
  if (seed != 0) return {kDefaultGraphSeed, seed};
  return {0, 0};
}

// scale * (random numbers of `op`) + shift
Output Random(Graph& g, const char* op, const std::string& name, const Shape& shape, DType dtype, double scale,
              double shift, int64_t seed) {
  if (!IsFloating(dtype)) {
    g.AddError(InvalidArgument("a ", dtype, " variable cannot start with random numbers"));
    return {};
  }
  const std::string full_name = g.impl().UniqueName(name);
  auto scope = g.NameScope(full_name + "/");
  const auto [seed1, seed2] = Seeds(g, seed);
  const Output numbers = NodeBuilder(g, op)
                             .Input(ShapeConst(g, shape))
                             .Attr("dtype", dtype)
                             .Attr("seed", seed1)
                             .Attr("seed2", seed2)
                             .Output();
  const Output scaled = NodeBuilder(g, "Mul").Name("mul").Input(numbers).Input(Number(g, scale, dtype)).Output();
  return NodeBuilder(g, "AddV2").Name(full_name + "/").Input(scaled).Input(Number(g, shift, dtype)).Output();
}

}  // namespace

Initializer Zeros() {
  return [](Graph& g, const Shape& shape, DType dtype) { return Filled(g, "zeros", 0, shape, dtype); };
}

Initializer Ones() {
  return [](Graph& g, const Shape& shape, DType dtype) { return Filled(g, "ones", 1, shape, dtype); };
}

Initializer Constant(double value) {
  return [value](Graph& g, const Shape& shape, DType dtype) { return Filled(g, "Const", value, shape, dtype); };
}

Initializer Constant(Tensor value) {
  return [value](Graph& g, const Shape&, DType) {
    return NodeBuilder(g, "Const").Attr("value", value).Attr("dtype", value.dtype()).Output();
  };
}

Initializer RandomUniform(double low, double high, int64_t seed) {
  return [=](Graph& g, const Shape& shape, DType dtype) {
    return Random(g, "RandomUniform", "random_uniform", shape, dtype, high - low, low, seed);
  };
}

Initializer RandomNormal(double mean, double stddev, int64_t seed) {
  return [=](Graph& g, const Shape& shape, DType dtype) {
    return Random(g, "RandomStandardNormal", "random_normal", shape, dtype, stddev, mean, seed);
  };
}

Initializer TruncatedNormal(double mean, double stddev, int64_t seed) {
  return [=](Graph& g, const Shape& shape, DType dtype) {
    return Random(g, "TruncatedNormal", "truncated_normal", shape, dtype, stddev, mean, seed);
  };
}

Initializer GlorotUniform(int64_t seed) {
  return [seed](Graph& g, const Shape& shape, DType dtype) {
    // Of a matrix [in, out]; of a convolution [..., in, out] times the size of its window.
    double window = 1;
    for (int i = 0; i + 2 < shape.rank(); ++i) window *= static_cast<double>(shape.dim(i));
    const int rank = shape.rank();
    const double fan_out = rank == 0 ? 1 : window * static_cast<double>(shape.dim(rank - 1));
    const double fan_in = rank < 2 ? fan_out : window * static_cast<double>(shape.dim(rank - 2));
    const double limit = std::sqrt(6.0 / (fan_in + fan_out));
    return Random(g, "RandomUniform", "random_uniform", shape, dtype, 2 * limit, -limit, seed);
  };
}

}  // namespace tensorbraid
