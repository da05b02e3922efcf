// Sparse tensors as ops pass them: int64 indices [n, rank], values [n], and a dense shape [rank].
#ifndef TENSORBRAID_KERNELS_CPU_SPARSE_SPARSE_H_
#define TENSORBRAID_KERNELS_CPU_SPARSE_SPARSE_H_

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/cpu/compute_type.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// A validated view of the three tensors of a sparse tensor. The tensors are shared, not copied.
class SparseView {
 public:
  // Returns InvalidArgument if the shapes of the three do not match, a size is negative or an index is out of bounds.
  static StatusOr<SparseView> Of(const Tensor& indices, const Tensor& values, const Tensor& shape);
  // Like Of, but does not check the bounds of indices: for ops that only compare them.
  static StatusOr<SparseView> OfUnbounded(const Tensor& indices, const Tensor& values, const Tensor& shape);
  // A view of inputs `first` to `first + 2`.
  static StatusOr<SparseView> OfInputs(KernelContext& ctx, int first) {
    return Of(ctx.input(first), ctx.input(first + 1), ctx.input(first + 2));
  }

  int64_t size() const { return size_; }
  int rank() const { return rank_; }
  const IntVector& shape() const { return shape_; }
  // The coordinates of element i: `rank` numbers.
  const int64_t* index(int64_t i) const { return indices_.data<int64_t>().data() + i * rank_; }
  const Tensor& indices() const { return indices_; }
  const Tensor& values() const { return values_; }
  // The numbers of the elements, sorted by their indices in row-major order. The sort is stable.
  std::vector<int64_t> Sorted() const;

 private:
  Tensor indices_, values_;
  IntVector shape_;
  int64_t size_ = 0;
  int rank_ = 0;
};

// Returns InvalidArgument if the matrix `indices` has not one column for each of the `rank` dimensions. `name` and
// `shape` are the inputs that the error names.
Status CheckIndexRank(const Tensor& indices, int64_t rank, const char* name, const char* shape);

// Negative, 0 or positive if index a comes before, equals or comes after b in row-major order.
inline int CompareIndex(const int64_t* a, const int64_t* b, int rank) {
  for (int d = 0; d < rank; ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

// The indices and values of a sparse output, which the caller fills.
struct SparseOutput {
  int64_t* indices;
  Tensor* values;
};
// Allocates outputs `first` (indices [n, rank]) and `first + 1` (values [n]), and sets output `first + 2` to the shape.
StatusOr<SparseOutput> AllocateSparse(KernelContext& ctx, int first, int64_t n, std::span<const int64_t> shape);
// Like the function above, with a separate output number for each of the three.
StatusOr<SparseOutput> AllocateSparse(KernelContext& ctx, int indices, int values, int shape, int64_t n,
                                      std::span<const int64_t> sizes);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SPARSE_SPARSE_H_
