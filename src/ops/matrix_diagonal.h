// The sizes of matrices made of diagonals, for the shape rule and the kernel of MatrixDiagV2 and V3.
#ifndef TENSORBRAID_OPS_MATRIX_DIAGONAL_H_
#define TENSORBRAID_OPS_MATRIX_DIAGONAL_H_

#include <cstdint>

#include "tensorbraid/status.h"

namespace tensorbraid {

// Of matrices whose diagonals `lower` to `upper` are given, the longest with `longest` elements: fills in *rows and
// *columns that are -1 with the least that fit. InvalidArgument when those that are given do not.
Status FitDiagonals(int64_t longest, int64_t lower, int64_t upper, int64_t* rows, int64_t* columns);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_MATRIX_DIAGONAL_H_
