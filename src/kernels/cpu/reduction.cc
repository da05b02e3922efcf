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
  AddReduction<MeanR>(r, "Mean", RealTypes{});
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
