// How scattered updates change rows of a tensor: one implementation for variables, tensors and Inplace ops.
#ifndef TENSORBRAID_KERNELS_CPU_ROW_UPDATES_H_
#define TENSORBRAID_KERNELS_CPU_ROW_UPDATES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/type_constraints.h"
#include "tensorbraid/status.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

enum class RowUpdate { kReplace, kAdd, kSubtract, kMultiply, kDivide, kMin, kMax };

// The types of numbers that an update knows; empty for kReplace, which takes any type. What is added may also be
// strings or truth values (is any of them true?), and truth values may be subtracted (do they differ?).
DTypeSet TypesOf(RowUpdate how);

// Changes `to` by `updates` of the same type: rows[i], of `size` elements, by row i of the updates, or by the one
// element of a scalar. Rows count from the start of `to`, in the order given (a row named twice is changed twice);
// those below 0 are passed over; the caller has checked that the others exist. Integers wrap around; their division by
// 0 is InvalidArgument, before anything has changed.
Status UpdateRows(RowUpdate how, std::span<const int64_t> rows, int64_t size, const Tensor& updates, Tensor* to);

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_ROW_UPDATES_H_
