// The sizes of matrices made of diagonals, for the shape rule and the kernel of MatrixDiagV2 and V3.
#ifndef TENSORBRAID_OPS_LINALG_MATRIX_DIAGONAL_H_
#define TENSORBRAID_OPS_LINALG_MATRIX_DIAGONAL_H_

#include <cstdint>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Computes the size of matrices whose diagonals `lower` to `upper` are given, where the longest diagonal has `longest`
// elements. Replaces *rows and *columns, where they are -1, by the smallest values that fit the diagonals. Returns
// InvalidArgument if a value that was given does not fit them.
Status FitDiagonals(int64_t longest, int64_t lower, int64_t upper, int64_t* rows, int64_t* columns);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LINALG_MATRIX_DIAGONAL_H_
