// Sorts the rows of gradients for sparse accumulators, which expect increasing indices.
#ifndef TENSORBRAID_TRAIN_OPTIMIZERS_INCREASING_ROWS_H_
#define TENSORBRAID_TRAIN_OPTIMIZERS_INCREASING_ROWS_H_

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {

// Returns the slices with each row once, in the order of increasing indices. Rows with the same index are summed in
// their original order. Invalid if the graph has an error.
inline IndexedSlices WithIncreasingRows(Graph& g, const IndexedSlices& slices) {
  // TopKV2 sorts from the largest to the smallest value, and keeps the order of equal values.
  const Output descending = NodeBuilder(g, "Neg").Input(slices.indices).Output();
  const Output count = NodeBuilder(g, "Size").Input(slices.indices).Output();
  const Operation sorted = NodeBuilder(g, "TopKV2").Input(descending).Input(count).Finish();
  if (!sorted.valid()) return {};
  const IndexedSlices increasing = {.values = Gather(slices.values, sorted.output(1)),
                                    .indices = NodeBuilder(g, "Neg").Input(sorted.output(0)).Output(),
                                    .dense_shape = slices.dense_shape};
  const Gradient distinct = Gradient(increasing).WithDistinctRows();
  return distinct.valid() ? distinct.slices() : IndexedSlices();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_OPTIMIZERS_INCREASING_ROWS_H_
