// Rows of gradients that an accumulator sums before their variable gets them.
//
// A growing table with a filter has to know how often each key has occurred. Its rows have two further numbers, which
// are summed with them: how often the key has occurred in the batch, and 1, so that the sum is the number of gradients.
#ifndef TENSORBRAID_TRAIN_REPLICAS_ROWS_TO_SUM_H_
#define TENSORBRAID_TRAIN_REPLICAS_ROWS_TO_SUM_H_

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// The shape of an accumulator for gradients of this variable.
Shape ShapeOfSum(const Variable& variable);

// The rows of a sparse gradient of `variable`: each index once, in increasing order. Invalid if the graph has an error.
IndexedSlices RowsToSum(const IndexedSlices& gradient, const Variable& variable);

// The means of the sums of rows with counts (CountsKeys of the variable is true): each row is divided by `divisor`, a
// scalar, or, if that is not valid, by the number of gradients that have the row. CountsOfKeys finds the sums of the
// counts. Invalid if the graph has an error.
IndexedSlices MeansOfCountedRows(const IndexedSlices& sums, const Variable& variable, const Output& divisor = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_ROWS_TO_SUM_H_
