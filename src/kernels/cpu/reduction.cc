// Sums and means over axes, and what all reductions share.
#include "kernels/cpu/reduction.h"

#include "kernels/cpu/families.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {
namespace cpu {
namespace {

StatusOr<std::vector<bool>> ReducedAxes(const Tensor& axes, int rank) {
  std::vector<bool> reduced(rank, false);
  if (axes.shape().rank() > 1) return InvalidArgument("axes must be a scalar or a vector, got shape ", axes.shape());
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const int64_t axis = axes.dtype() == kInt64 ? axes.data<int64_t>()[i] : axes.data<int32_t>()[i];
    if (axis < -rank || axis >= rank) {
      return InvalidArgument("axis ", axis, " is not in [", -rank, ", ", rank, ")");
    }
    const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (reduced[at]) return InvalidArgument("axis ", at, " is named twice");
    reduced[at] = true;
  }
  return reduced;
}

// The mean of integers of 32 bits or less, whose sum may need 64.
template <typename T>
class IntegerMeanKernel final : public Kernel {
 public:
  explicit IntegerMeanKernel(const KernelConstruction& c) : keep_dims_(c.attr<bool>("keep_dims")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(Groups g, GroupAxes(in.shape(), ctx.input(1), keep_dims_));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, g.shape));
    TF_ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemp(kInt64, in.shape()));
    TF_ASSIGN_OR_RETURN(Tensor sums, ctx.AllocateTemp(kInt64, g.shape));
    const auto from = in.data<T>();
    const auto values = wide.mutable_data<int64_t>();
    std::copy(from.begin(), from.end(), values.begin());
    const auto totals = sums.mutable_data<int64_t>();
    const auto results = out->mutable_data<T>();
    if (results.empty()) return OkStatus();
    if (values.empty() || g.identity) {
      for (size_t i = 0; i < results.size(); ++i) results[i] = values.empty() ? T(0) : from[i];
      return OkStatus();
    }
    ReduceGroups<SumR, int64_t>(ctx, values.data(), std::move(g.sizes), totals.data());
    const int64_t count = static_cast<int64_t>(values.size() / results.size());
    for (size_t i = 0; i < results.size(); ++i) results[i] = static_cast<T>(totals[i] / count);
    return OkStatus();
  }

 private:
  const bool keep_dims_;
};

template <typename... T>
void AddIntegerMean(KernelRegistry& r, Types<T...>) {
  (r.Add<IntegerMeanKernel<T>>("Mean", {{"T", {DTypeOf<T>::value}}}), ...);
}

}  // namespace

StatusOr<Groups> GroupAxes(const Shape& shape, const Tensor& axes, bool keep_dims) {
  TF_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(axes, shape.rank()));
  Groups g;
  g.sizes.push_back(1);
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t size = shape.dim(i);
    if (!reduced[i]) {
      g.shape.AddDim(size);
    } else if (keep_dims) {
      g.shape.AddDim(1);
    }
    if (size == 1) continue;
    if (reduced[i]) g.identity = false;
    const bool last_is_reduced = g.sizes.size() % 2 == 0;
    if (reduced[i] == last_is_reduced) {
      g.sizes.back() *= size;
    } else {
      g.sizes.push_back(size);
    }
  }
  return g;
}

}  // namespace cpu

void RegisterReductionKernels(KernelRegistry& r) {
  using namespace cpu;  // NOLINT: the family's own
  AddReduction<SumR>(r, "Sum", RealTypes{});
  AddReduction<MeanR>(r, "Mean", FloatTypes{} + Types<int64_t, uint64_t>{});
  AddIntegerMean(r, Types<int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t>{});
  RegisterProductKernels(r);
  RegisterExtremeKernels(r);
  RegisterNormKernels(r);
  RegisterArgMaxKernels(r);
  RegisterSegmentKernels(r);
  RegisterSparseSegmentKernels(r);
  RegisterScanKernels(r);
  RegisterHistogramKernels(r);
}

}  // namespace tensorbraid
