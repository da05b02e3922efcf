// Sparse tensors, each represented by three dense tensors, and ops on them.
#ifndef TENSORBRAID_OPS_SPARSE_H_
#define TENSORBRAID_OPS_SPARSE_H_

#include <source_location>
#include <string>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// A tensor of which only some elements are stored: element indices[i] is values[i]. Ops expect the indices in row-major
// order. Source: tf.SparseTensor.
struct SparseTensor {
  Output indices;      // int64 [n, rank]
  Output values;       // [n]
  Output dense_shape;  // int64 [rank]
};

// Three placeholders: feed the indices (int64 [n, rank]), the values (`dtype` [n]) and the shape (int64 [rank]). The
// rank is the length of `shape`, in which -1 means any size; sizes are checked by the ops that use the tensor. Nodes:
// "name/indices", "name/values", "name/shape".
SparseTensor SparsePlaceholder(Graph& graph, DType dtype, const Shape& shape = Shape::Unknown(),
                               const std::string& name = "",
                               std::source_location loc = std::source_location::current());

struct EditDistanceOptions {
  bool normalize = true;  // whether each distance is divided by the length of the truth
  std::string name = {};
};
// The Levenshtein distance between each pair of sequences: the fewest insertions, deletions and substitutions that turn
// the hypothesis into the truth. The sequences lie along the last dimension of both operands. The result is float32 and
// has the other dimensions; where their sizes differ, it has the larger size. Values of different integer dtypes are
// compared as int64. With `normalize`, the distance to an empty truth is 0 if the hypothesis is empty too, otherwise
// infinity. Not differentiable.
Output EditDistance(const SparseTensor& hypothesis, const SparseTensor& truth, const EditDistanceOptions& options = {},
                    std::source_location loc = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_SPARSE_H_
