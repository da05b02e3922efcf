// The function with which accumulators and TensorArrays add tensors.
#ifndef TENSORBRAID_KERNELS_CPU_DATA_FLOW_ADD_TENSORS_H_
#define TENSORBRAID_KERNELS_CPU_DATA_FLOW_ADD_TENSORS_H_

#include "kernels/cpu/array_math.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// *out = a + b, element by element; `out` may be `a` or `b`. All have the dtype T and the same number of elements.
template <typename T>
void AddTensors(ThreadPool& pool, const Tensor& a, const Tensor& b, Tensor* out) {
  const T* x = a.data<T>().data();
  const T* y = b.data<T>().data();
  T* to = out->inplace_data<T>().data();
  pool.ParallelFor(a.num_elements(), 0.2 * sizeof(T), [=](int64_t begin, int64_t end) {
    Combine(x + begin, y + begin, to + begin, end - begin, [](const auto& l, const auto& r) { return l + r; });
  });
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_DATA_FLOW_ADD_TENSORS_H_
