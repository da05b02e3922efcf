// Dense layers, embeddings, and layers without variables.
#include <algorithm>

#include "graph/model/graph_impl.h"
#include "graph/model/user_lines.h"
#include "layers/layer_scope.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"
#include "tensorbraid/variables/embedding.h"

namespace tensorbraid::layers {

Output Activate(const Operand& x, Activation activation, const std::string& name) {
  switch (activation) {
    case Activation::kRelu:
      return nn::Relu(x, name);
    case Activation::kRelu6:
      return nn::Relu6(x, name);
    case Activation::kLeakyRelu:
      return nn::LeakyRelu(x, /*alpha=*/0.2f, name);
    case Activation::kElu:
      return nn::Elu(x, name);
    case Activation::kSoftplus:
      return nn::Softplus(x, name);
    case Activation::kSoftsign:
      return nn::Softsign(x, name);
    case Activation::kTanh:
      return Tanh(x, name);
    case Activation::kSigmoid:
      return Sigmoid(x, name);
    case Activation::kSoftmax:
      return nn::Softmax(x, name);
    case Activation::kNone:
      break;
  }
  Graph* graph = GraphOf("Activate", {&x});
  return graph == nullptr ? Output() : x.ToOutput(*graph);
}

namespace {

// Returns x as a matrix: all dimensions but the last are merged into its rows.
Output Rows(const Output& x) { return Reshape(x, {-1, x.shape().dim(x.shape().rank() - 1)}); }

// The reverse of Rows: gives `rows` all dimensions of x but the last, followed by the last dimension of `rows`.
Output Unrows(const Output& rows, const Output& x) {
  std::vector<int64_t> sizes(x.shape().dims().begin(), x.shape().dims().end() - 1);
  sizes.push_back(rows.shape().dim(1));
  const auto unknown = std::count(sizes.begin(), sizes.end(), Shape::kUnknownDim);
  // An unknown size cannot be computed from the others if one of them is 0.
  if (unknown == 0 || (unknown == 1 && std::count(sizes.begin(), sizes.end(), 0) == 0)) return Reshape(rows, sizes);
  const Output before = Slice(ShapeOf(x), {0}, {x.shape().rank() - 1});
  const Output units = ConstantVector(*x.graph(), {sizes.back()});
  const Output result = Reshape(rows, Concat({before, units}, 0));
  if (result.valid()) ImplOf(*x.graph()).RefineShape(NodeOf(result), 0, Shape(sizes));
  return result;
}

}  // namespace

Output Dense(const Operand& input, const DenseOptions& options) {
  const LayerScope layer("Dense", "dense", input, options.name);
  if (!layer.ok()) return {};
  const Output& x = layer.x();
  if (options.units < 1) return layer.Mistake("units must be positive, got ", options.units);
  if (!IsFloating(x.dtype())) return layer.Mistake("the input must be floating-point, got ", x.dtype());
  const int64_t size = layer.KnownSize(-1);
  if (size < 0) return {};
  if (size == 0) return layer.Mistake("the last dimension of the input is empty; the shape is ", x.shape());
  if (x.shape().rank() < 2) return layer.Mistake("the input must have rank 2 or more, got shape ", x.shape());
  const PartitionedVariable kernel =
      layer.Weight("kernel", {size, options.units}, x.dtype(), options.trainable, options.kernel_initializer,
                   /*fallback=*/nullptr, options.kernel_regularizer);
  const bool is_matrix = x.shape().rank() == 2;
  Output y = MatMul(is_matrix ? x : Rows(x), kernel);
  if (options.bias) {
    y = nn::BiasAdd(y, layer.Weight("bias", {options.units}, x.dtype(), options.trainable, options.bias_initializer,
                                    Zeros(), options.bias_regularizer));
  }
  if (!y.valid()) return {};
  return Activate(is_matrix ? y : Unrows(y, x), options.activation);
}

Output Embedding(const Operand& ids, const EmbeddingOptions& options) {
  const LayerScope layer("Embedding", "embedding", ids, options.name);
  if (!layer.ok()) return {};
  if (options.input_dim < 1 || options.output_dim < 1) {
    return layer.Mistake("input_dim and output_dim must be positive, got ", options.input_dim, " and ",
                         options.output_dim);
  }
  if (layer.x().dtype() != kInt32 && layer.x().dtype() != kInt64) {
    return layer.Mistake("ids must be int32 or int64, got ", layer.x().dtype());
  }
  const PartitionedVariable table =
      layer.Weight("embeddings", {options.input_dim, options.output_dim}, options.dtype, options.trainable,
                   options.initializer, RandomUniform(-0.05, 0.05), options.regularizer);
  return nn::EmbeddingLookup(table, layer.x(), {.partition_strategy = nn::PartitionStrategy::kDiv});
}

Output Flatten(const Operand& x, const std::string& name) {
  Graph* graph = GraphOf("Flatten", {&x});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const Output input = x.ToOutput(*graph);
  if (!input.valid()) return {};
  const Shape& shape = input.shape();
  if (!shape.has_rank() || shape.rank() < 1) {
    graph->AddError(InvalidArgument("Flatten '", name, "' (", LocationText(ImplOf(*graph).UserLine(x.location())),
                                    "): the input must have a known rank of 1 or more, got shape ", shape));
    return {};
  }
  const int64_t elements = Shape(shape.dims().subspan(1)).num_elements();  // of one example
  const std::string node = name.empty() ? "flatten" : name;
  if (elements > 0) return Reshape(input, {-1, elements}, node);
  auto scope = graph->NameScope(node);
  return Reshape(input, Concat({Slice(ShapeOf(input), {0}, {1}), ConstantVector(*graph, {elements})}, 0));
}

std::vector<Output> RegularizationLosses(const Graph& graph) { return graph.GetCollection("regularization_losses"); }

Output RegularizationLoss(Graph& graph, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  const std::vector<Output> losses = RegularizationLosses(graph);
  if (losses.empty()) return Const(graph, Tensor::Scalar(0.0f), "total_regularization_loss");
  return AddN(losses, "total_regularization_loss");
}

}  // namespace tensorbraid::layers
