// Inputs of kernels that hold one value.
#ifndef TENSORBRAID_KERNELS_CPU_SCALAR_INPUT_H_
#define TENSORBRAID_KERNELS_CPU_SCALAR_INPUT_H_

#include "core/text/strings.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// The value in input `i`. REQUIRES: the input has the dtype of T. Like TensorFlow, takes a tensor of any rank with one
// element; otherwise InvalidArgument, which names the input as `what`.
template <typename T>
StatusOr<T> ScalarInput(const KernelContext& ctx, int i, const char* what) {
  const Tensor& t = ctx.input(i);
  if (t.num_elements() == 1) return t.data<T>()[0];
  return InvalidArgument(what, " must be a scalar, got shape ", t.shape());
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_SCALAR_INPUT_H_
