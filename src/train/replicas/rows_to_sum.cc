#include "train/replicas/rows_to_sum.h"

#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "train/optimizers/increasing_rows.h"
#include "train/optimizers/key_counts.h"

namespace tensorbraid {
namespace {

Output ColumnsOf(const Output& values, int64_t begin, int64_t size) { return Slice(values, {0, begin}, {-1, size}); }

}  // namespace

Shape ShapeOfSum(const Variable& variable) {
  Shape shape = variable.shape();
  if (CountsKeys(variable)) shape.set_dim(1, shape.dim(1) + 2);
  return shape;
}

IndexedSlices RowsToSum(const IndexedSlices& gradient, const Variable& variable) {
  if (!gradient.values.valid() || !gradient.indices.valid()) return {};
  Graph& g = *gradient.values.graph();
  IndexedSlices rows = gradient;
  // The shape of a growing table would be read from its server; the number of its rows does not matter.
  if (variable.table() != nullptr) {
    rows.dense_shape = Const(g, Tensor::Vector<int64_t>({-1, ShapeOfSum(variable).dim(1)}));
  }
  if (!CountsKeys(variable)) return WithIncreasingRows(g, rows);
  const Output counts = ExpandDims(Cast(CountsOfKeys(rows.indices, variable.handle()), variable.dtype()), 1);
  rows.values = Concat({rows.values, counts}, 1);
  rows = WithIncreasingRows(g, rows);
  if (!rows.values.valid()) return {};
  rows.values = Concat({rows.values, OnesLike(ColumnsOf(rows.values, 0, 1))}, 1);
  return rows;
}

IndexedSlices MeansOfCountedRows(const IndexedSlices& sums, const Variable& variable, const Output& divisor) {
  if (!sums.values.valid()) return {};
  auto place = sums.values.graph()->ColocateWith(sums.values.op());
  const int64_t dim = variable.shape().dim(1);
  const Output divisors = divisor.valid() ? divisor : ColumnsOf(sums.values, dim + 1, 1);
  const Output counts = Cast(Reshape(ColumnsOf(sums.values, dim, 1), {-1}), kInt64);
  if (!counts.valid()) return {};
  SetCountsOfKeys(sums.indices, counts);
  return {
      .values = ColumnsOf(sums.values, 0, dim) / divisors, .indices = sums.indices, .dense_shape = sums.dense_shape};
}

}  // namespace tensorbraid
