// Sparse tensors as ops have them: indices [n, rank] of int64, values [n], and a shape [rank].
#ifndef TENSORBRAID_KERNELS_CPU_SPARSE_H_
#define TENSORBRAID_KERNELS_CPU_SPARSE_H_

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/cpu/elements.h"
#include "runtime/kernel.h"

namespace tensorbraid::cpu {

// A view of three tensors that fit together. The tensors are shared, not copied.
class SparseView {
 public:
  // InvalidArgument when the shapes of the three do not fit each other, a size is negative or an index out of bounds.
  static StatusOr<SparseView> Of(const Tensor& indices, const Tensor& values, const Tensor& shape);
  // The same, but indices may be anywhere: for ops that only compare them.
  static StatusOr<SparseView> OfUnbounded(const Tensor& indices, const Tensor& values, const Tensor& shape);
  // Of inputs `first` to `first + 2`.
  static StatusOr<SparseView> OfInputs(KernelContext& ctx, int first) {
    return Of(ctx.input(first), ctx.input(first + 1), ctx.input(first + 2));
  }

  int64_t size() const { return size_; }
  int rank() const { return rank_; }
  const IntVector& shape() const { return shape_; }
  // The `rank` numbers of element i.
  const int64_t* index(int64_t i) const { return indices_.data<int64_t>().data() + i * rank_; }
  const Tensor& indices() const { return indices_; }
  const Tensor& values() const { return values_; }
  // InvalidArgument when the product of the sizes does not fit int64.
  StatusOr<int64_t> DenseSize() const;
  // Numbers of the elements in row-major order of their indices; equal ones stay in the order they came in.
  std::vector<int64_t> Sorted() const;

 private:
  Tensor indices_, values_;
  IntVector shape_;
  int64_t size_ = 0;
  int rank_ = 0;
};

// Less than, equal or greater than 0 as index a comes before, at or after b.
inline int CompareIndex(const int64_t* a, const int64_t* b, int rank) {
  for (int d = 0; d < rank; ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

// Allocates outputs `first` (indices [n, rank]) and `first + 1` (values [n]), and sets `first + 2` to the shape.
struct SparseOutput {
  int64_t* indices;
  Tensor* values;
};
StatusOr<SparseOutput> AllocateSparse(KernelContext& ctx, int first, int64_t n, std::span<const int64_t> shape);
// The same with the numbers of the three outputs.
StatusOr<SparseOutput> AllocateSparse(KernelContext& ctx, int indices, int values, int shape, int64_t n,
                                      std::span<const int64_t> sizes);

// The parts of the sparse family.
void RegisterSparseDenseKernels(KernelRegistry& r);      // sparse_dense.cc
void RegisterSparseStructureKernels(KernelRegistry& r);  // sparse_structure.cc
void RegisterSparseMathKernels(KernelRegistry& r);       // sparse_math.cc
void RegisterSparseStorageKernels(KernelRegistry& r);    // sparse_storage.cc
void RegisterSparseCrossKernels(KernelRegistry& r);      // sparse_cross.cc
void RegisterSparseSetKernels(KernelRegistry& r);        // sparse_sets.cc
void RegisterRaggedKernels(KernelRegistry& r);           // ragged.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SPARSE_H_
