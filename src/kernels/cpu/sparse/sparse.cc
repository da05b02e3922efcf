#include "kernels/cpu/sparse/sparse.h"

#include "core/text/strings.h"

namespace tensorbraid {
namespace cpu {

Status CheckIndexRank(const Tensor& indices, int64_t rank, const char* name, const char* shape) {
  const int64_t columns = indices.shape().dim(1);
  if (columns == rank) return OkStatus();
  return InvalidArgument("Index rank (", columns, ") and shape rank (", rank, ") do not match: ", name, " have ",
                         columns, " columns, but ", shape, " has ", rank, " dimensions");
}

StatusOr<SparseView> SparseView::OfUnbounded(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.shape().rank() != 2) return InvalidArgument("indices must be a matrix, got shape ", indices.shape());
  if (values.shape().rank() != 1) return InvalidArgument("values must be a vector, got shape ", values.shape());
  if (shape.shape().rank() != 1) return InvalidArgument("the shape must be a vector, got shape ", shape.shape());
  SparseView v;
  v.size_ = indices.shape().dim(0);
  v.rank_ = static_cast<int>(shape.num_elements());
  if (values.num_elements() != v.size_) {
    return InvalidArgument("there are ", v.size_, " indices, but ", values.num_elements(), " values");
  }
  TF_RETURN_IF_ERROR(CheckIndexRank(indices, v.rank_, "indices", "the shape"));
  TF_ASSIGN_OR_RETURN(v.shape_, IntegersOf(shape, "the shape"));
  for (int64_t d : v.shape_) {
    if (d < 0) return InvalidArgument("the shape must not have negative sizes, got ", shape.ToString());
  }
  v.indices_ = indices;
  v.values_ = values;
  return v;
}

StatusOr<SparseView> SparseView::Of(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  TF_ASSIGN_OR_RETURN(SparseView v, OfUnbounded(indices, values, shape));
  for (int64_t i = 0; i < v.size_; ++i) {
    for (int d = 0; d < v.rank_; ++d) {
      if (v.index(i)[d] < 0 || v.index(i)[d] >= v.shape_[d]) {
        return InvalidArgument("index ", v.index(i)[d], " (of element ", i, ") is out of bounds for dimension ", d,
                               " of ", shape.ToString());
      }
    }
  }
  return v;
}

std::vector<int64_t> SparseView::Sorted() const {
  std::vector<int64_t> order(size_);
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](int64_t a, int64_t b) { return CompareIndex(index(a), index(b), rank_) < 0; };
  if (!std::is_sorted(order.begin(), order.end(), before)) std::stable_sort(order.begin(), order.end(), before);
  return order;
}

StatusOr<SparseOutput> AllocateSparse(KernelContext& ctx, int indices, int values, int shape, int64_t n,
                                      std::span<const int64_t> sizes) {
  TF_ASSIGN_OR_RETURN(Tensor * to, ctx.AllocateOutput(indices, {n, static_cast<int64_t>(sizes.size())}));
  TF_ASSIGN_OR_RETURN(Tensor * v, ctx.AllocateOutput(values, {n}));
  if (shape < ctx.num_outputs()) {
    ctx.set_output(shape, Tensor::Vector(std::vector<int64_t>(sizes.begin(), sizes.end())));
  }
  return SparseOutput{to->inplace_data<int64_t>().data(), v};
}

StatusOr<SparseOutput> AllocateSparse(KernelContext& ctx, int first, int64_t n, std::span<const int64_t> shape) {
  return AllocateSparse(ctx, first, first + 1, first + 2, n, shape);
}

}  // namespace cpu

}  // namespace tensorbraid
