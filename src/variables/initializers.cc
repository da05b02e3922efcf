// Implements the initializers of variables.
#include "tensorbraid/variables/initializers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "variables/described_initializer.h"

namespace tensorbraid {
namespace {

Output ShapeConst(Graph& g, const Shape& shape) {
  const std::vector<int64_t> sizes(shape.dims().begin(), shape.dims().end());
  const bool wide =
      std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size > std::numeric_limits<int32_t>::max(); });
  const Tensor value = wide ? Tensor::Vector(sizes) : Tensor::Vector(std::vector<int32_t>(sizes.begin(), sizes.end()));
  return NodeBuilder(g, "Const").Name("shape").Attr("value", value).Attr("dtype", value.dtype()).Output();
}

Output Number(Graph& g, double value, DType dtype) {
  // A double cannot hold every integer above 2^53; for those, see Constant(Tensor).
  const Operand operand =
      IsInteger(dtype) && value == std::floor(value) ? Operand(static_cast<int64_t>(value)) : Operand(value);
  if (dtype == kBool) return Operand(value != 0).ToOutput(g, kBool);
  return operand.ToOutput(g, dtype);
}

Output Filled(Graph& g, const std::string& name, double value, const Shape& shape, DType dtype) {
  if (dtype == kString) {
    if (value != 0) {
      g.AddError(InvalidArgument("cannot initialize a string variable with the number ", value));
      return {};
    }
    return NodeBuilder(g, "Const").Name(name).Attr("value", Tensor(kString, shape)).Attr("dtype", kString).Output();
  }
  const std::string full_name = ImplOf(g).UniqueName(name);
  auto scope = g.NameScope(full_name + "/");
  const Output scalar = Number(g, value, dtype);
  if (shape.rank() == 0) return scalar;
  return NodeBuilder(g, "Fill").Name(full_name + "/").Input(ShapeConst(g, shape)).Input(scalar).Output();
}

// Combines the graph's seed and the op's as TensorFlow does. If both are set, returns both. If only the op's is set,
// returns a fixed graph seed with it. If only the graph's is set, returns it with the number of nodes so far. If
// neither is set, returns zeros, for which the kernel picks a different seed each time.
std::pair<int64_t, int64_t> Seeds(const Graph& g, int64_t seed) {
  constexpr int64_t kDefaultGraphSeed = 87654321;
  const int64_t graph_seed = g.random_seed();
  if (seed == kSeedZero) return {graph_seed != 0 ? graph_seed : kDefaultGraphSeed, 0};
  if (graph_seed != 0) return {graph_seed, seed != 0 ? seed : static_cast<int64_t>(ImplOf(g).num_nodes())};
  if (seed != 0) return {kDefaultGraphSeed, seed};
  return {0, 0};
}

// scale * (random numbers from `op`) + shift
Output Random(Graph& g, const char* op, const std::string& name, const Shape& shape, DType dtype, double scale,
              double shift, int64_t seed) {
  if (!IsFloating(dtype)) {
    g.AddError(InvalidArgument("cannot initialize a ", dtype,
                               " variable with random numbers; the dtype must be floating-point"));
    return {};
  }
  const std::string full_name = ImplOf(g).UniqueName(name);
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

// Fills the variable with `value`, by nodes with this name.
Initializer FilledWith(const char* name, double value) {
  return DescribedInitializer{
      .make = [=](Graph& g, const Shape& shape, DType dtype) { return Filled(g, name, value, shape, dtype); },
      .describe = [=](const Shape&) { return InitialRows{.kind = InitialRows::Kind::kConstant, .a = value}; }};
}

// The initializer that `make` is, which gives numbers of this distribution to a variable of any shape.
Initializer Described(const InitialRows& rows, Initializer make) {
  return DescribedInitializer{.make = std::move(make), .describe = [=](const Shape&) { return rows; }};
}

}  // namespace

Initializer Zeros() { return FilledWith("zeros", 0); }
Initializer Ones() { return FilledWith("ones", 1); }
Initializer Constant(double value) { return FilledWith("Const", value); }

Initializer Constant(Tensor value) {
  return [value](Graph& g, const Shape& shape, DType) {
    const auto& part = ImplOf(g).initialized_part();
    // A part of a partitioned variable gets its rows of a value that is given for the whole variable.
    const bool is_whole = part && value.shape() == part->shape;
    const Tensor rows = is_whole ? value.Slice(part->first_row, part->first_row + shape.dim(0)) : value;
    return NodeBuilder(g, "Const").Attr("value", rows).Attr("dtype", rows.dtype()).Output();
  };
}

Initializer RandomUniform(double low, double high, int64_t seed) {
  const InitialRows rows = {.kind = InitialRows::Kind::kUniform, .a = low, .b = high, .seed = seed};
  return Described(rows, [=](Graph& g, const Shape& shape, DType dtype) {
    return Random(g, "RandomUniform", "random_uniform", shape, dtype, high - low, low, seed);
  });
}

Initializer RandomNormal(double mean, double stddev, int64_t seed) {
  const InitialRows rows = {.kind = InitialRows::Kind::kNormal, .a = mean, .b = stddev, .seed = seed};
  return Described(rows, [=](Graph& g, const Shape& shape, DType dtype) {
    return Random(g, "RandomStandardNormal", "random_normal", shape, dtype, stddev, mean, seed);
  });
}

Initializer TruncatedNormal(double mean, double stddev, int64_t seed) {
  const InitialRows rows = {.kind = InitialRows::Kind::kTruncatedNormal, .a = mean, .b = stddev, .seed = seed};
  return Described(rows, [=](Graph& g, const Shape& shape, DType dtype) {
    return Random(g, "TruncatedNormal", "truncated_normal", shape, dtype, stddev, mean, seed);
  });
}

namespace {

struct Fans {
  double in;
  double out;
};

// A matrix has shape [in, out]. A convolution filter has shape [..., in, out]; its fans are multiplied by the size of
// the window.
Fans FansOf(const Shape& shape) {
  const int rank = shape.rank();
  double window = 1;
  for (int i = 0; i + 2 < rank; ++i) window *= static_cast<double>(shape.dim(i));
  const double out = rank == 0 ? 1 : window * static_cast<double>(shape.dim(rank - 1));
  return {rank < 2 ? out : window * static_cast<double>(shape.dim(rank - 2)), out};
}

// The standard deviation of a normal distribution with variance 1 that is truncated at 2.
constexpr double kTruncatedDeviation = 0.87962566103423978;

}  // namespace

namespace {

// The distribution that gives numbers of the variance that the options ask for.
InitialRows ScaledRows(const VarianceScalingOptions& options, const Shape& whole) {
  const Fans fans = FansOf(whole);
  const double fan = options.mode == FanMode::kFanIn    ? fans.in
                     : options.mode == FanMode::kFanOut ? fans.out
                                                        : (fans.in + fans.out) / 2;
  const double variance = options.scale / std::max(1.0, fan);
  switch (options.distribution) {
    case ScalingDistribution::kTruncatedNormal:
      return {.kind = InitialRows::Kind::kTruncatedNormal,
              .a = 0,
              .b = std::sqrt(variance) / kTruncatedDeviation,
              .seed = options.seed};
    case ScalingDistribution::kUntruncatedNormal:
      return {.kind = InitialRows::Kind::kNormal, .a = 0, .b = std::sqrt(variance), .seed = options.seed};
    case ScalingDistribution::kUniform: {
      const double limit = std::sqrt(3 * variance);
      return {.kind = InitialRows::Kind::kUniform, .a = -limit, .b = limit, .seed = options.seed};
    }
  }
  return {};
}

}  // namespace

Initializer VarianceScaling(const VarianceScalingOptions& options) {
  const auto make = [options](Graph& g, const Shape& shape, DType dtype) -> Output {
    if (!(options.scale > 0)) {
      g.AddError(InvalidArgument("VarianceScaling: scale must be positive, got ", options.scale));
      return {};
    }
    const auto& part = ImplOf(g).initialized_part();
    const InitialRows rows = ScaledRows(options, part ? part->shape : shape);
    switch (rows.kind) {
      case InitialRows::Kind::kTruncatedNormal:
        return Random(g, "TruncatedNormal", "truncated_normal", shape, dtype, rows.b, 0, rows.seed);
      case InitialRows::Kind::kNormal:
        return Random(g, "RandomStandardNormal", "random_normal", shape, dtype, rows.b, 0, rows.seed);
      case InitialRows::Kind::kUniform:
        return Random(g, "RandomUniform", "random_uniform", shape, dtype, 2 * rows.b, rows.a, rows.seed);
      case InitialRows::Kind::kConstant:
        break;
    }
    return {};
  };
  return DescribedInitializer{.make = make,
                              .describe = [options](const Shape& shape) { return ScaledRows(options, shape); }};
}

namespace {

Initializer ScaledVariance(double scale, FanMode mode, ScalingDistribution distribution, int64_t seed) {
  return VarianceScaling({.scale = scale, .mode = mode, .distribution = distribution, .seed = seed});
}

}  // namespace

Initializer GlorotUniform(int64_t seed) {
  return ScaledVariance(1, FanMode::kFanAverage, ScalingDistribution::kUniform, seed);
}
Initializer GlorotNormal(int64_t seed) {
  return ScaledVariance(1, FanMode::kFanAverage, ScalingDistribution::kTruncatedNormal, seed);
}
Initializer HeUniform(int64_t seed) { return ScaledVariance(2, FanMode::kFanIn, ScalingDistribution::kUniform, seed); }
Initializer HeNormal(int64_t seed) {
  return ScaledVariance(2, FanMode::kFanIn, ScalingDistribution::kTruncatedNormal, seed);
}
Initializer LecunUniform(int64_t seed) {
  return ScaledVariance(1, FanMode::kFanIn, ScalingDistribution::kUniform, seed);
}
Initializer LecunNormal(int64_t seed) {
  return ScaledVariance(1, FanMode::kFanIn, ScalingDistribution::kTruncatedNormal, seed);
}

Initializer Orthogonal(double gain, int64_t seed) {
  return [gain, seed](Graph& g, const Shape& shape, DType dtype) -> Output {
    if (shape.rank() < 2) {
      g.AddError(InvalidArgument("Orthogonal: the variable must have rank 2 or more, got shape ", shape));
      return {};
    }
    const int64_t columns = shape.dim(shape.rank() - 1);
    const int64_t rows = Shape(shape.dims().first(shape.rank() - 1)).num_elements();
    // The matrix to decompose has at least as many rows as columns. There is no decomposition of 16-bit floats.
    const DType type = dtype == kFloat64 ? kFloat64 : kFloat32;
    const Shape tall({std::max(rows, columns), std::min(rows, columns)});
    // For other dtypes, Random records a mistake.
    if (!IsFloating(dtype)) return Random(g, "RandomStandardNormal", "random_normal", tall, dtype, 1, 0, seed);
    const Output numbers = Random(g, "RandomStandardNormal", "random_normal", tall, type, 1, 0, seed);
    const Operation qr = NodeBuilder(g, "Qr").Input(numbers).Finish();
    // The signs of the diagonal of R make the decomposition unique, and Q uniformly distributed.
    const Output diagonal = NodeBuilder(g, "MatrixDiagPart").Input(qr.output(1)).Output();
    Output q = qr.output(0) * Sign(diagonal);
    if (rows < columns) q = Transpose(q);
    return Cast(Reshape(q, shape) * gain, dtype);
  };
}

Initializer IdentityMatrix(double gain) {
  return [gain](Graph& g, const Shape& shape, DType dtype) -> Output {
    if (shape.rank() != 2) {
      g.AddError(InvalidArgument("IdentityMatrix: the variable must be a matrix, got shape ", shape));
      return {};
    }
    const auto& part = ImplOf(g).initialized_part();
    const int64_t first_row = part ? part->first_row : 0;
    const int64_t ones = std::min(shape.dim(0), shape.dim(1) - first_row);
    const Output zeros = Filled(g, "zeros", 0, shape, dtype);
    if (ones <= 0) return zeros;
    const Output diagonal = Filled(g, "diagonal", gain, Shape({ones}), dtype);
    if (first_row == 0) return NodeBuilder(g, "MatrixSetDiag").Input(zeros).Input(diagonal).Output();
    const Output shift = Number(g, static_cast<double>(first_row), kInt32);
    return NodeBuilder(g, "MatrixSetDiagV3").Input(zeros).Input(diagonal).Input(shift).Output();
  };
}

}  // namespace tensorbraid
