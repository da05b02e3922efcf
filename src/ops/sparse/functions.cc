// The public functions of the sparse op family.
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/sparse.h"

namespace tensorbraid {

SparseTensor SparsePlaceholder(Graph& graph, DType dtype, const Shape& shape, const std::string& name,
                               std::source_location loc) {
  const int64_t rank = shape.has_rank() ? shape.rank() : Shape::kUnknownDim;
  // One unique name for the three placeholders, as with tf.sparse_placeholder.
  const std::string base = ImplOf(graph).UniqueName(name.empty() ? "Placeholder" : name);
  const auto part = [&](const char* suffix, DType type, const Shape& of) {
    return NodeBuilder(graph, "Placeholder", loc)
        .Name(StrCat(base, suffix, "/"))
        .Attr("dtype", type)
        .Attr("shape", of)
        .Output();
  };
  return {.indices = part("/indices", kInt64, {Shape::kUnknownDim, rank}),
          .values = part("/values", dtype, {Shape::kUnknownDim}),
          .dense_shape = part("/shape", kInt64, {rank})};
}

Output EditDistance(const SparseTensor& hypothesis, const SparseTensor& truth, const EditDistanceOptions& options,
                    std::source_location loc) {
  const Operand first(hypothesis.values, loc), second(truth.values, loc);
  Graph* graph = GraphOf("EditDistance", {&first, &second});
  if (graph == nullptr || !hypothesis.values.valid() || !truth.values.valid()) return {};
  const ScopedLocation at(*graph, loc);
  Output a = hypothesis.values, b = truth.values;
  if (a.dtype() != b.dtype() && IsInteger(a.dtype()) && IsInteger(b.dtype())) {
    a = a.dtype() == kInt64 ? a : Cast(a, kInt64);
    b = b.dtype() == kInt64 ? b : Cast(b, kInt64);
  }
  return NodeBuilder(*graph, "EditDistance", loc)
      .Name(options.name)
      .Input(hypothesis.indices)
      .Input(a)
      .Input(hypothesis.dense_shape)
      .Input(truth.indices)
      .Input(b)
      .Input(truth.dense_shape)
      .Attr("normalize", options.normalize)
      .Output();
}

}  // namespace tensorbraid
