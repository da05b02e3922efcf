// Compares tensors that two devices have computed.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_TENSOR_DIFFERENCE_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_TENSOR_DIFFERENCE_H_

#include <string>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// "" if the tensors, which are in host memory, are equal up to rounding. Otherwise the first difference, as a part of a
// sentence: "element 3 of float32[2,3] is 5 instead of 4".
//
// Floats are equal if they differ by at most a part of the largest element of `expected`; an element below 0.001 counts
// as 0.001. That part is `tolerance` for float32 and complex64, a millionth of it for float64 and complex128, ten times
// as much for float16, and fifty times for bfloat16. Two NaN are equal. All other dtypes are equal bit for bit.
std::string DifferenceOf(const Tensor& actual, const Tensor& expected, double tolerance);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_TENSOR_DIFFERENCE_H_
