// The public functions of the random op family.
#include <limits>

#include "core/text/logging.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/logging.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/random.h"

namespace tensorbraid {
namespace {

Output Draw(Graph& graph, const char* op, const RandomShape& shape, const RandomOptions& o, const std::string& name) {
  const SeedPair seeds = SeedsOf(graph, o.seed);
  return NodeBuilder(graph, op)
      .Name(name)
      .Input(shape.operand().ToOutput(graph))
      .Attr("dtype", o.dtype)
      .Attr("seed", seeds.seed)
      .Attr("seed2", seeds.seed2)
      .Output();
}

// Draws random values with `op` and returns values * scale + offset. Adds no node for a scale of 1 or an offset of 0.
// The last node gets the name o.name.
Output Scaled(Graph& graph, const char* op, const RandomShape& shape, double scale, double offset,
              const RandomOptions& o) {
  const bool scales = scale != 1.0, moves = offset != 0.0;
  Output value = Draw(graph, op, shape, o, scales || moves ? "" : o.name);
  if (scales) value = Mul(value, scale, moves ? "" : o.name);
  if (moves) value = Add(value, offset, o.name);
  return value;
}

}  // namespace

Tensor RandomShape::Constant(const Shape& shape) {
  TB_CHECK(shape.is_fully_defined());
  bool small = true;
  for (int64_t d : shape.dims()) small = small && d <= INT32_MAX;
  if (!small) return Tensor::Vector(std::vector<int64_t>(shape.dims().begin(), shape.dims().end()));
  return Tensor::Vector(std::vector<int32_t>(shape.dims().begin(), shape.dims().end()));
}

Output RandomUniform(Graph& graph, const RandomShape& shape, double low, double high, const RandomOptions& options,
                     std::source_location loc) {
  const ScopedLocation at(graph, loc);
  return Scaled(graph, "RandomUniform", shape, high - low, low, options);
}

Output RandomUniform(Graph& graph, const RandomShape& shape, const RandomOptions& options, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  return Scaled(graph, "RandomUniform", shape, 1.0, 0.0, options);
}

Output RandomNormal(Graph& graph, const RandomShape& shape, double mean, double stddev, const RandomOptions& options,
                    std::source_location loc) {
  const ScopedLocation at(graph, loc);
  return Scaled(graph, "RandomStandardNormal", shape, stddev, mean, options);
}

Output TruncatedNormal(Graph& graph, const RandomShape& shape, double mean, double stddev, const RandomOptions& options,
                       std::source_location loc) {
  const ScopedLocation at(graph, loc);
  return Scaled(graph, "TruncatedNormal", shape, stddev, mean, options);
}

Output RandomUniformInt(Graph& graph, const RandomShape& shape, const Operand& low, const Operand& high, int64_t seed,
                        const std::string& name, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  const SeedPair seeds = SeedsOf(graph, seed);
  const Output size = shape.operand().ToOutput(graph);
  const Output from = low.ToOutput(graph, high.dtype());
  const Output to = high.ToOutput(graph, low.dtype());
  return NodeBuilder(graph, "RandomUniformInt")
      .Name(name)
      .Input(size)
      .Input(from)
      .Input(to)
      .Attr("seed", seeds.seed)
      .Attr("seed2", seeds.seed2)
      .Output();
}

Output RandomShuffle(const Operand& value, int64_t seed, const std::string& name) {
  Graph* graph = GraphOf("RandomShuffle", {&value});
  if (graph == nullptr) return {};
  const SeedPair seeds = SeedsOf(*graph, seed);
  return NodeBuilder(*graph, "RandomShuffle", value.location())
      .Name(name)
      .Input(value.ToOutput(*graph))
      .Attr("seed", seeds.seed)
      .Attr("seed2", seeds.seed2)
      .Output();
}

Output Multinomial(const Operand& logits, const Operand& num_samples, int64_t seed, const std::string& name) {
  Graph* graph = GraphOf("Multinomial", {&logits, &num_samples});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, logits.location());
  const SeedPair seeds = SeedsOf(*graph, seed);
  const Output x = logits.ToOutput(*graph);
  return NodeBuilder(*graph, "Multinomial")
      .Name(name)
      .Input(x)
      .Input(num_samples.ToOutput(*graph, kInt32))
      .Attr("seed", seeds.seed)
      .Attr("seed2", seeds.seed2)
      .Output();
}

Output RandomCrop(const Operand& value, const Integers& size, int64_t seed, const std::string& name) {
  Graph* graph = GraphOf("RandomCrop", {&value});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, value.location());
  auto scope = graph->NameScope(name.empty() ? "random_crop" : name);
  const Output x = value.ToOutput(*graph);
  const Output wanted = size.ToOutput(*graph, "size", kInt32);
  const Output shape = ShapeOf(x, wanted.dtype());
  const Operation fits = Assert(
      ReduceAll(shape >= wanted),
      {Tensor::Scalar("RandomCrop: size is larger than the value. Shape, size:"), shape, wanted}, {.summarize = 1000});
  const Output limit = WithDependencies({fits}, shape - wanted + 1);
  // As in TensorFlow, the offset is a random number below the largest integer, modulo the number of possible offsets.
  const Operand most = wanted.dtype() == kInt64 ? Operand(std::numeric_limits<int64_t>::max())
                                                : Operand(std::numeric_limits<int32_t>::max());
  const Output zero = Operand(0).ToOutput(*graph, wanted.dtype());
  const Output offset = RandomUniformInt(*graph, ShapeOf(shape), zero, most, seed) % limit;
  return Slice(x, offset, wanted);
}

}  // namespace tensorbraid
