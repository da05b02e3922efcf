// Helpers of several files of array ops. Defined in array.cc.
#ifndef TENSORBRAID_OPS_ARRAY_INTEGERS_H_
#define TENSORBRAID_OPS_ARRAY_INTEGERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// The values of an int32 or int64 tensor. Nothing if it has another dtype, or if it is invalid because its value is not
// known while building the graph.
std::optional<std::vector<int64_t>> IntegersOf(const Tensor& t);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_ARRAY_INTEGERS_H_
