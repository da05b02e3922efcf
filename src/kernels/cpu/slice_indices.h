// Indices whose last dimension holds the first coordinates of a slice: of GatherNd and ScatterNd and their like.
#ifndef TENSORBRAID_KERNELS_CPU_SLICE_INDICES_H_
#define TENSORBRAID_KERNELS_CPU_SLICE_INDICES_H_

#include <string>
#include <vector>

#include "graph/node.h"
#include "tensorbraid/status.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

// Whether the node passes over indices that name no slice; they are an error for others. InvalidArgument when its
// bad_indices_policy is none.
StatusOr<bool> IgnoresBadIndices(const Node& node);

// The shape of the slices of a tensor of `shape` that indices of shape `indices` name, one for each of their rows.
// InvalidArgument for indices without a dimension or longer than the shape; of the tensor it says `what`.
StatusOr<Shape> SlicesShape(const Shape& indices, const Shape& shape, const std::string& what);

// The numbers of these slices, which SlicesShape has found to fit: slice number k begins k * (elements of a slice) from
// the tensor's start. For a row that names none: -1 with `ignore`, else InvalidArgument.
StatusOr<std::vector<int64_t>> SlicesOf(const Tensor& indices, const Shape& shape, bool ignore,
                                        const std::string& what);

// As SlicesOf, of rows, for indices of any shape: each of their numbers names a row.
StatusOr<std::vector<int64_t>> RowsOf(const Tensor& indices, int64_t num_rows, const std::string& what);

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_SLICE_INDICES_H_
