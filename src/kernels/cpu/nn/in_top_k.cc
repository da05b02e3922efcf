// InTopK: whether a class is among the k most likely.
#include <cmath>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Whether the prediction for the target is among the k largest of its row. The result is false if the target is out of
// range or the row has a value that is not finite.
template <typename L>
Status InTopKKernel(KernelContext& ctx) {
  const Tensor& predictions = ctx.input(0);
  const Tensor& targets = ctx.input(1);
  if (predictions.shape().rank() != 2) {
    return InvalidArgument("predictions must be a matrix, got shape ", predictions.shape());
  }
  if (targets.shape().rank() != 1) return InvalidArgument("targets must be a vector, got shape ", targets.shape());
  if (predictions.shape().dim(0) != targets.shape().dim(0)) {
    return InvalidArgument("predictions ", predictions.shape(), " and targets ", targets.shape(),
                           " must have the same number of rows");
  }
  int64_t k;
  if (ctx.num_inputs() == 2) {  // k is an attribute of InTopK, and an input of InTopKV2
    k = ctx.node().attr<int64_t>("k");
  } else if (ctx.input(2).num_elements() == 1) {
    k = ctx.input(2).data<L>()[0];
  } else {
    return InvalidArgument("k must be a scalar, got shape ", ctx.input(2).shape());
  }
  const int64_t rows = predictions.shape().dim(0), classes = predictions.shape().dim(1);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {rows}));
  const float* x = predictions.data<float>().data();
  const L* target = targets.data<L>().data();
  bool* y = out->inplace_data<bool>().data();
  Parallel(ctx, rows, 2.0 + classes, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* row = x + r * classes;
      bool finite = target[r] >= 0 && target[r] < classes && std::isfinite(row[target[r]]);
      int64_t larger = 0;
      for (int64_t j = 0; finite && j < classes; ++j) {
        if (!std::isfinite(row[j])) finite = false;
        if (row[j] > row[target[r]]) ++larger;
      }
      y[r] = finite && larger < k;
    }
  });
  return OkStatus();
}

}  // namespace

void RegisterNnInTopKKernels(KernelRegistry& r) {
  r.Add("InTopK", {{"T", {kInt32}}}, InTopKKernel<int32_t>);
  r.Add("InTopK", {{"T", {kInt64}}}, InTopKKernel<int64_t>);
  r.Add("InTopKV2", {{"T", {kInt32}}}, InTopKKernel<int32_t>);
  r.Add("InTopKV2", {{"T", {kInt64}}}, InTopKKernel<int64_t>);
}

}  // namespace tensorbraid::cpu
