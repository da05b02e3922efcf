// The dropout layer.

#include "graph/model/graph_impl.h"
#include "layers/branches.h"
#include "layers/layer_scope.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/random.h"

namespace tensorbraid::layers {
namespace {

// Returns `sizes` as a tensor, with the sizes of x in place of those that are not known.
Output SizesOf(const Output& x, const Shape& sizes) {
  std::vector<Operand> parts;
  for (int i = 0; i < sizes.rank(); ++i) {
    parts.push_back(sizes.dim(i) >= 0 ? ConstantVector(*x.graph(), {sizes.dim(i)}) : Slice(ShapeOf(x), {i}, {1}));
  }
  return Concat(parts, 0);
}

}  // namespace

Output Dropout(const Operand& input, const DropoutOptions& options) {
  const LayerScope layer("Dropout", "dropout", input, options.name);
  if (!layer.ok()) return {};
  const Output& x = layer.x();
  if (!IsFloating(x.dtype())) return layer.Mistake("the input must be floating-point, got ", x.dtype());
  if (!(options.rate >= 0 && options.rate < 1)) {
    return layer.Mistake("rate must be at least 0 and below 1, got ", options.rate);
  }
  if (!layer.CheckTraining(options.training)) return {};
  const Shape& shape = x.shape();
  Shape noise = shape;
  if (!options.noise_shape.empty()) {
    noise = Shape(options.noise_shape);
    bool fits = shape.has_rank() && shape.rank() == noise.rank();
    for (int i = 0; fits && i < noise.rank(); ++i) {
      const int64_t given = noise.dim(i), size = shape.dim(i);
      fits = given == -1 || given == 1 || (given > 1 && (size < 0 || given == size));
      if (given == -1) noise.set_dim(i, size);
    }
    if (!fits) {
      return layer.Mistake("noise_shape ", ListText(options.noise_shape), " does not fit the input's shape ", shape);
    }
  }
  const Branch drop = [&](const std::vector<Output>& in) -> std::vector<Output> {
    Graph& graph = layer.graph();
    const RandomShape sizes = noise.is_fully_defined()      ? RandomShape(noise)
                              : options.noise_shape.empty() ? RandomShape(ShapeOf(in[0]))
                                                            : RandomShape(SizesOf(in[0], noise));
    const Output random = RandomUniform(graph, sizes, {.dtype = x.dtype(), .seed = options.seed});
    const Output kept = GreaterEqual(random, options.rate);
    Output y = Select(kept, in[0] * (1.0 / (1.0 - options.rate)), 0.0);
    if (y.valid() && y.shape().IsCompatibleWith(shape)) ImplOf(graph).RefineShape(NodeOf(y), 0, shape);
    return {y};
  };
  if (options.rate == 0) return Identity(x);
  return SelectBranch(options.training, {x}, drop,
                      [](const std::vector<Output>& in) -> std::vector<Output> { return {Identity(in[0])}; })[0];
}

}  // namespace tensorbraid::layers
