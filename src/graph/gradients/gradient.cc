// Gradients as values: dense tensors or slices, their sums, and the conversion of slices to dense tensors.
#include <algorithm>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"

namespace tensorbraid {
namespace {

Output Constant(Graph& graph, Tensor value) {
  const DType dtype = value.dtype();
  return NodeBuilder(graph, "Const").Attr("value", std::move(value)).Attr("dtype", dtype).Output();
}

// The number of rows of the whole tensor, an int64 scalar.
Output NumRows(Graph& graph, const Output& dense_shape) {
  if (dense_shape.op().type() == "Const") {
    const auto& shape = NodeOf(dense_shape)->attr<Tensor>("value");
    if (shape.dtype() == kInt64 && shape.num_elements() > 0) {
      return Constant(graph, Tensor::Scalar<int64_t>(shape.data<int64_t>()[0]));
    }
  }
  return NodeBuilder(graph, "StridedSlice")
      .Input(dense_shape)
      .Input(Constant(graph, Tensor::Vector<int32_t>({0})))  // begin
      .Input(Constant(graph, Tensor::Vector<int32_t>({1})))  // end
      .Input(Constant(graph, Tensor::Vector<int32_t>({1})))  // strides
      .Attr("shrink_axis_mask", 1)
      .Output();
}

// All tensors, one after the other along dimension 0.
Output Concatenated(Graph& graph, std::vector<Output> tensors) {
  const Output axis = Constant(graph, Tensor::Scalar<int32_t>(0));
  return NodeBuilder(graph, "ConcatV2").InputList(std::move(tensors)).Input(axis).Output();
}

}  // namespace

Operand::Operand(const Gradient& gradient, std::source_location loc) : value_(gradient.ToDense(loc)), loc_(loc) {}

const Output& Gradient::dense(std::source_location loc) const {
  if (is_sparse_) [[unlikely]] {
    CheckFailed(loc.file_name(), static_cast<int>(loc.line()), "gradient",
                StrCat("the gradient '", op().name(), "' is slices: use slices() or ToDense()"));
  }
  return slices_.values;
}

const IndexedSlices& Gradient::slices(std::source_location loc) const {
  if (!is_sparse_) [[unlikely]] {
    CheckFailed(loc.file_name(), static_cast<int>(loc.line()), "gradient",
                StrCat("the gradient '", op().name(), "' is dense: use dense() or ToDense()"));
  }
  return slices_;
}

Output Gradient::ToDense(std::source_location loc) const {
  if (!is_sparse_) return slices_.values;
  if (!valid() || !slices_.indices.valid() || !slices_.dense_shape.valid()) return {};
  Graph& g = *graph(loc);
  const ScopedLocation at(g, loc);
  return NodeBuilder(g, "UnsortedSegmentSum")
      .Input(slices_.values)
      .Input(slices_.indices)
      .Input(NumRows(g, slices_.dense_shape))
      .Output();
}

Gradient Gradient::WithDistinctRows(std::source_location loc) const {
  if (!is_sparse_ || !valid()) return *this;
  Graph& g = *graph(loc);
  const ScopedLocation at(g, loc);
  const Operation unique = NodeBuilder(g, "Unique").Input(slices_.indices).Finish();
  if (!unique.valid()) return {};
  const Output count = NodeBuilder(g, "Size").Input(unique.output(0)).Output();
  const Output sums =
      NodeBuilder(g, "UnsortedSegmentSum").Input(slices_.values).Input(unique.output(1)).Input(count).Output();
  return IndexedSlices{.values = sums, .indices = unique.output(0), .dense_shape = slices_.dense_shape};
}

Gradient SumOfGradients(const std::vector<Gradient>& gradients, std::source_location loc) {
  const auto valid = [](const Gradient& g) { return g.valid(); };
  if (gradients.empty() || !std::all_of(gradients.begin(), gradients.end(), valid)) {
    LogMistake("SumOfGradients", loc, gradients.empty() ? kEmptyList : "a gradient in the list is not valid");
    return {};
  }
  if (gradients.size() == 1) return gradients[0];
  Graph& g = *gradients[0].graph(loc);
  const ScopedLocation at(g, loc);
  if (!std::all_of(gradients.begin(), gradients.end(), [](const Gradient& x) { return x.is_sparse(); })) {
    std::vector<Output> terms;
    for (const Gradient& x : gradients) terms.push_back(x.ToDense(loc));
    return NodeBuilder(g, "AddN").InputList(std::move(terms)).Output();
  }
  const DType type = gradients[0].slices().indices.dtype();
  const bool same_type = std::all_of(gradients.begin(), gradients.end(),
                                     [&](const Gradient& x) { return x.slices().indices.dtype() == type; });
  std::vector<Output> values, indices;
  for (const Gradient& x : gradients) {
    values.push_back(x.slices().values);
    Output index = x.slices().indices;
    if (!same_type && index.dtype() != kInt64) {
      index = NodeBuilder(g, "Cast").Input(index).Attr("DstT", kInt64).Output();
    }
    indices.push_back(index);
  }
  return IndexedSlices{.values = Concatenated(g, std::move(values)),
                       .indices = Concatenated(g, std::move(indices)),
                       .dense_shape = gradients[0].slices().dense_shape};
}

}  // namespace tensorbraid
