// Checks and resolves the indices of GatherNd, ScatterNd and similar ops, whose last dimension holds the leading
// coordinates of a slice. The implementation is in src/kernels/cpu/slice_indices.cc.
#ifndef TENSORBRAID_RUNTIME_VARIABLES_SLICE_INDICES_H_
#define TENSORBRAID_RUNTIME_VARIABLES_SLICE_INDICES_H_

#include <string>
#include <vector>

#include "graph/model/node.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Whether the node ignores indices that are out of bounds; for other nodes they are an error. Returns InvalidArgument
// if the node's bad_indices_policy is not a known policy.
StatusOr<bool> IgnoresBadIndices(const Node& node);

// The shape of the slices that indices of shape `indices` select from a tensor of shape `shape`, one slice per row of
// indices. Returns InvalidArgument for scalar indices, or if a row of indices is longer than the rank of `shape`; the
// message calls the tensor `what`.
StatusOr<Shape> SlicesShape(const Shape& indices, const Shape& shape, const std::string& what);

// The numbers of these slices. Slice k starts at element k * (elements per slice) of the tensor. A row of indices that
// is out of bounds gives -1 if `ignore`, otherwise InvalidArgument. REQUIRES: SlicesShape has accepted the shapes.
StatusOr<std::vector<int64_t>> SlicesOf(const Tensor& indices, const Shape& shape, bool ignore,
                                        const std::string& what);

// Like SlicesOf, but each element of `indices`, which may have any shape, is the index of a row. Out of bounds is
// always InvalidArgument.
StatusOr<std::vector<int64_t>> RowsOf(const Tensor& indices, int64_t num_rows, const std::string& what);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_VARIABLES_SLICE_INDICES_H_
