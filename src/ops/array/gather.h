// The batch dimensions of a gather: the first dimensions of `params` and `indices`, within which the indices select.
#ifndef TENSORBRAID_OPS_ARRAY_GATHER_H_
#define TENSORBRAID_OPS_ARRAY_GATHER_H_

#include <cstdint>

#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The number of batch dimensions that the attribute `batch_dims` asks for; a negative one counts from the end of the
// dimensions of `indices`. Both shapes have known ranks. Returns InvalidArgument if `params` is a scalar, or if one of
// them has too few dimensions.
StatusOr<int> NumBatchDims(int64_t batch_dims, const Shape& params, const Shape& indices);

// Returns InvalidArgument unless `axis`, a dimension of params, comes after the `batch` batch dimensions.
Status CheckAxisAfterBatchDims(int64_t axis, int batch);

// The shape of slices of params along `axis`. Both shapes are fully defined. InvalidArgument as above, and if a batch
// dimension of params has another size than that dimension of indices.
StatusOr<Shape> GatheredShape(const Shape& params, const Shape& indices, int axis, int batch);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_ARRAY_GATHER_H_
