// Tensors for kernels of ops that take every real dtype. The loops of these kernels are compiled only for float32,
// float64 and int64. A tensor of another dtype is converted as a whole.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WIDE_TENSOR_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WIDE_TENSOR_H_

#include <initializer_list>

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// The wide dtype of `dtype`: float32 for float32 and the 16-bit floats, float64 for float64, int64 for all integers.
DType WideType(DType dtype);

// `t` converted to its wide dtype, or `t` itself if it has that dtype. uint64 is shifted by 2^63, so that the order of
// the numbers stays the same.
StatusOr<Tensor> Widen(KernelContext& ctx, const Tensor& t);
// Like Widen, but uint64 keeps its bits, so that sums are correct.
StatusOr<Tensor> WidenSummands(KernelContext& ctx, const Tensor& t);

// Output `i` of the node, to be filled with elements of the wide dtype.
class WideOutput {
 public:
  // Allocates the output, and wide memory for it if its dtype is not wide. `reuse`: as for
  // KernelContext::ForwardOrAllocateOutput, inputs whose memory the output may take.
  Status Allocate(KernelContext& ctx, int i, const Shape& shape, std::initializer_list<int> reuse = {});
  template <typename A>
  A* data() {
    return wide_.inplace_data<A>().data();
  }
  // Call one of these after writing. They convert the elements back: Finish inverts Widen, FinishSums inverts
  // WidenSummands.
  void Finish() { Narrow(/*shifted=*/true); }
  void FinishSums() { Narrow(/*shifted=*/false); }

 private:
  void Narrow(bool shifted);

  Tensor* out_ = nullptr;
  Tensor wide_;  // shares the memory of the output if that is wide
};

// Calls f.template operator()<A>() with the C++ type of the wide dtype of `dtype`.
template <typename F>
Status ForWideType(DType dtype, const F& f) {
  switch (WideType(dtype)) {
    case kFloat32:
      return f.template operator()<float>();
    case kFloat64:
      return f.template operator()<double>();
    default:
      return f.template operator()<int64_t>();
  }
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WIDE_TENSOR_H_
