// Kernels that count values into bins.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Counts values into bins [rows, size]. Values that are too large for the last bin are ignored.
template <typename T>
class Bins {
 public:
  // `weights` may be empty; then each value adds 1 to its bin. If `binary`, a bin is 1 if it has any value.
  Bins(Tensor* out, int64_t size, const Tensor& weights, bool binary)
      : bins_(out->inplace_data<T>().data()),
        size_(size),
        weights_(weights.num_elements() > 0 ? weights.data<T>().data() : nullptr),
        binary_(binary) {
    std::fill(bins_, bins_ + out->num_elements(), T(0));
  }
  // Counts `value`, the element number `at` of the values, in row `row`.
  void Count(int64_t row, int64_t value, int64_t at) {
    if (value >= size_) return;
    T& bin = bins_[row * size_ + value];
    if (binary_) {
      bin = T(1);
    } else {
      bin = AddF::Apply(bin, weights_ != nullptr ? weights_[at] : T(1));
    }
  }

 private:
  T* bins_;
  int64_t size_;
  const T* weights_;
  bool binary_;
};

StatusOr<int64_t> SizeOfBins(const Tensor& t) {
  if (t.num_elements() != 1) return InvalidArgument("size must be a scalar, got shape ", t.shape());
  TF_ASSIGN_OR_RETURN(const int64_t size, IntegerOf(t, "size"));
  if (size < 0) return InvalidArgument("size must not be negative, got ", size);
  return size;
}

template <typename Tidx>
Status CheckValues(const Tensor& values) {
  for (Tidx v : values.data<Tidx>()) {
    if (v < 0) return CannotCount(v);
  }
  return OkStatus();
}

Status CheckWeights(const Tensor& weights, const Tensor& values) {
  if (weights.num_elements() > 0 && weights.shape() != values.shape()) {
    return InvalidArgument("weights must be empty or have the shape of the values, got ", weights.shape(), " for ",
                           values.shape());
  }
  return OkStatus();
}

template <typename T>
Status BincountKernel(KernelContext& ctx) {
  const Tensor& values = ctx.input(0);
  TF_ASSIGN_OR_RETURN(const int64_t size, SizeOfBins(ctx.input(1)));
  TF_RETURN_IF_ERROR(CheckWeights(ctx.input(2), values));
  TF_RETURN_IF_ERROR(CheckValues<int32_t>(values));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {size}));
  Bins<T> bins(out, size, ctx.input(2), /*binary=*/false);
  const auto v = values.data<int32_t>();
  for (size_t i = 0; i < v.size(); ++i) bins.Count(0, v[i], static_cast<int64_t>(i));
  return OkStatus();
}

// Counts a vector into [size], or each row of a matrix into [rows, size].
template <typename Tidx, typename T>
Status DenseBincountKernel(KernelContext& ctx) {
  const Tensor& values = ctx.input(0);
  if (values.shape().rank() > 2) return InvalidArgument("input must have rank 2 or less, got shape ", values.shape());
  TF_ASSIGN_OR_RETURN(const int64_t size, SizeOfBins(ctx.input(1)));
  TF_RETURN_IF_ERROR(CheckWeights(ctx.input(2), values));
  TF_RETURN_IF_ERROR(CheckValues<Tidx>(values));
  const bool matrix = values.shape().rank() == 2;
  const int64_t rows = matrix ? values.shape().dim(0) : 1;
  const int64_t row = matrix ? values.shape().dim(1) : values.num_elements();
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, matrix ? Shape({rows, size}) : Shape({size})));
  Bins<T> bins(out, size, ctx.input(2), *ctx.node().FindAttr("binary_output")->get<bool>());
  const auto v = values.data<Tidx>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < row; ++j) bins.Count(i, v[i * row + j], i * row + j);
  }
  return OkStatus();
}

// Counts each row of a ragged tensor: row i has values [splits[i], splits[i + 1]).
template <typename Tidx, typename T>
Status RaggedBincountKernel(KernelContext& ctx) {
  const Tensor& splits = ctx.input(0);
  const Tensor& values = ctx.input(1);
  if (splits.shape().rank() != 1 || splits.num_elements() == 0) {
    return InvalidArgument("splits must be a non-empty vector, got shape ", splits.shape());
  }
  const auto at = splits.data<int64_t>();
  if (at[0] != 0 || at[at.size() - 1] != values.num_elements() || !std::is_sorted(at.begin(), at.end())) {
    return InvalidArgument("splits must be non-decreasing from 0 to the number of values, ", values.num_elements(),
                           ", got ", splits.ToString());
  }
  TF_ASSIGN_OR_RETURN(const int64_t size, SizeOfBins(ctx.input(2)));
  TF_RETURN_IF_ERROR(CheckWeights(ctx.input(3), values));
  TF_RETURN_IF_ERROR(CheckValues<Tidx>(values));
  const int64_t rows = splits.num_elements() - 1;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {rows, size}));
  Bins<T> bins(out, size, ctx.input(3), *ctx.node().FindAttr("binary_output")->get<bool>());
  const auto v = values.data<Tidx>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = at[i]; j < at[i + 1]; ++j) bins.Count(i, v[j], j);
  }
  return OkStatus();
}

// Counts a sparse vector, or each row of a sparse matrix.
template <typename Tidx, typename T>
Status SparseBincountKernel(KernelContext& ctx) {
  const Tensor& indices = ctx.input(0);
  const Tensor& values = ctx.input(1);
  TF_ASSIGN_OR_RETURN(const Shape dense, ShapeFrom(ctx.input(2), "dense_shape"));
  if (indices.shape().rank() != 2 || values.shape().rank() != 1 || indices.shape().dim(0) != values.shape().dim(0) ||
      indices.shape().dim(1) != dense.rank() || dense.rank() < 1 || dense.rank() > 2) {
    return InvalidArgument("the inputs do not form a sparse vector or matrix: indices have shape ", indices.shape(),
                           ", values have shape ", values.shape(), ", dense_shape is ", dense);
  }
  TF_ASSIGN_OR_RETURN(const int64_t size, SizeOfBins(ctx.input(3)));
  TF_RETURN_IF_ERROR(CheckWeights(ctx.input(4), values));
  TF_RETURN_IF_ERROR(CheckValues<Tidx>(values));
  const bool matrix = dense.rank() == 2;
  const int64_t rows = matrix ? dense.dim(0) : 1;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, matrix ? Shape({rows, size}) : Shape({size})));
  Bins<T> bins(out, size, ctx.input(4), *ctx.node().FindAttr("binary_output")->get<bool>());
  const auto v = values.data<Tidx>();
  const auto index = indices.data<int64_t>();
  for (size_t i = 0; i < v.size(); ++i) {
    const int64_t row = matrix ? index[2 * i] : 0;
    if (row < 0 || row >= rows) return InvalidArgument("row index ", row, " is out of bounds for dense_shape ", dense);
    bins.Count(row, v[i], static_cast<int64_t>(i));
  }
  return OkStatus();
}

// Counts values into bins of equal width over a range. Values outside the range are counted in the first or the last
// bin.
template <typename T>
Status HistogramFixedWidthKernel(KernelContext& ctx) {
  const Tensor& values = ctx.input(0);
  const Tensor& range = ctx.input(1);
  if (range.shape() != Shape({2})) return InvalidArgument("value_range must have 2 elements, got ", range.shape());
  if (!ctx.input(2).shape().is_scalar()) {
    return InvalidArgument("nbins must be a scalar, got shape ", ctx.input(2).shape());
  }
  const int32_t nbins = ctx.input(2).scalar<int32_t>();
  if (nbins <= 0) return InvalidArgument("nbins must be positive, got ", nbins);
  const T low = range.data<T>()[0], high = range.data<T>()[1];
  if (!(low < high)) return InvalidArgument("value_range must be increasing, got [", low, ", ", high, "]");
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {nbins}));
  const double step = (static_cast<double>(high) - static_cast<double>(low)) / nbins;
  const auto count = [&](auto* bins) {
    std::fill(bins, bins + nbins, 0);
    for (T v : values.data<T>()) {
      const double at = (static_cast<double>(v) - static_cast<double>(low)) / step;
      ++bins[at > 0 ? static_cast<int64_t>(std::min(at, nbins - 1.0)) : 0];
    }
  };
  if (out->dtype() == kInt64) {
    count(out->inplace_data<int64_t>().data());
  } else {
    count(out->inplace_data<int32_t>().data());
  }
  return OkStatus();
}

// For each value, the number of boundaries less than or equal to it.
template <typename T>
class BucketizeKernel final : public Kernel {
 public:
  explicit BucketizeKernel(const KernelConstruction& c) : boundaries_(c.attr<std::vector<float>>("boundaries")) {}

  Status Compute(KernelContext& ctx) override {
    if (!std::is_sorted(boundaries_.begin(), boundaries_.end())) return InvalidArgument("Expected sorted boundaries");
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
    const T* from = in.data<T>().data();
    int32_t* to = out->inplace_data<int32_t>().data();
    Parallel(ctx, in.num_elements(), 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        to[i] = static_cast<int32_t>(std::upper_bound(boundaries_.begin(), boundaries_.end(), from[i]) -
                                     boundaries_.begin());
      }
    });
    return OkStatus();
  }

 private:
  const std::vector<float> boundaries_;
};

template <typename... T>
void AddAll(KernelRegistry& r, Types<T...>) {
  (r.Add("Bincount", {{"T", {DTypeOf<T>::value}}}, BincountKernel<T>, ElementCost<5000>), ...);
  (r.Add("HistogramFixedWidth", {{"T", {DTypeOf<T>::value}}}, HistogramFixedWidthKernel<T>, ElementCost<5000>), ...);
  (r.Add<BucketizeKernel<T>>("Bucketize", {{"T", {DTypeOf<T>::value}}}, ElementCost<10000>), ...);
}

template <typename Tidx, typename... T>
void AddIndexed(KernelRegistry& r, Types<T...>) {
  const DType index = DTypeOf<Tidx>::value;
  (r.Add("DenseBincount", {{"Tidx", {index}}, {"T", {DTypeOf<T>::value}}}, DenseBincountKernel<Tidx, T>,
         ElementCost<5000>),
   ...);
  (r.Add("RaggedBincount", {{"Tidx", {index}}, {"T", {DTypeOf<T>::value}}}, RaggedBincountKernel<Tidx, T>,
         ElementCost<5000>),
   ...);
  (r.Add("SparseBincount", {{"Tidx", {index}}, {"T", {DTypeOf<T>::value}}}, SparseBincountKernel<Tidx, T>,
         ElementCost<5000>),
   ...);
}

}  // namespace

void RegisterReductionHistogramKernels(KernelRegistry& r) {
  using Counted = Types<int32_t, int64_t, float, double>;
  AddAll(r, Counted{});
  AddIndexed<int32_t>(r, Counted{});
  AddIndexed<int64_t>(r, Counted{});
}

}  // namespace tensorbraid::cpu
