// Sparse tensors, as three dense ones.
#ifndef TENSORBRAID_OPS_SPARSE_TENSOR_H_
#define TENSORBRAID_OPS_SPARSE_TENSOR_H_

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// A tensor of which only some elements are stored: element indices[i] is values[i]. Ops expect the indices in row-major
// order. Source: tf.SparseTensor.
struct SparseTensor {
  Output indices;      // int64 [n, rank]
  Output values;       // [n]
  Output dense_shape;  // int64 [rank]
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_SPARSE_TENSOR_H_
