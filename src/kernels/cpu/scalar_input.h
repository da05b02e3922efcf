// Reads kernel inputs that hold a single value.
#ifndef TENSORBRAID_KERNELS_CPU_SCALAR_INPUT_H_
#define TENSORBRAID_KERNELS_CPU_SCALAR_INPUT_H_

#include "core/text/strings.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// The value in input `i`. Like TensorFlow, accepts a tensor of any rank that has one element. Returns InvalidArgument,
// with `what` as the name of the input, for other numbers of elements. REQUIRES: the input has the dtype of T.
template <typename T>
StatusOr<T> ScalarInput(const KernelContext& ctx, int i, const char* what) {
  const Tensor& t = ctx.input(i);
  if (t.num_elements() == 1) return t.data<T>()[0];
  return InvalidArgument(what, " must be a scalar, got shape ", t.shape());
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_SCALAR_INPUT_H_
