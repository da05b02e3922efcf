// What the kernels that fill empty rows of sparse and of ragged tensors share.
#ifndef TENSORBRAID_KERNELS_CPU_SPARSE_FILL_EMPTY_ROWS_H_
#define TENSORBRAID_KERNELS_CPU_SPARSE_FILL_EMPTY_ROWS_H_

#include <cstdint>
#include <source_location>
#include <string_view>

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// Adds an element with the default value to each row without elements, at the first position of the row, and sets the
// four outputs of the op. `indices` is a matrix with a line for each value, or a vector of row numbers alone.
// InvalidArgument if the default value is not a scalar, or if an element is not in [0, rows). REQUIRES: `rows` is not
// negative, and `values` is a vector with as many elements as `indices` has lines.
Status FillEmptyRows(KernelContext& ctx, const Tensor& indices, const Tensor& values, int64_t rows,
                     const Tensor& default_value);

// Registers the kernels of an op that computes the gradients of the values and of the default value.
void AddFillEmptyRowsGrad(KernelRegistry& r, const char* op,
                          std::source_location location = std::source_location::current());

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SPARSE_FILL_EMPTY_ROWS_H_
