// Applies scattered updates to rows of a tensor: for ops on variables, ops on tensors and Inplace ops. The
// implementation is in src/kernels/cpu/row_updates.cc.
#ifndef TENSORBRAID_RUNTIME_VARIABLES_ROW_UPDATES_H_
#define TENSORBRAID_RUNTIME_VARIABLES_ROW_UPDATES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/threads/thread_pool.h"
#include "runtime/kernel/type_constraints.h"
#include "runtime/variables/row_locks.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

enum class RowUpdate { kReplace, kAdd, kSubtract, kMultiply, kDivide, kMin, kMax };

// The number types that an update supports; empty for kReplace, which supports any type. kAdd also supports strings
// (concatenation) and bools (logical or), and kSubtract supports bools (exclusive or).
DTypeSet TypesOf(RowUpdate how);

// The locks of a table's rows, for a table that other threads use at the same time.
struct RowsInTable {
  ThreadPool& pool;  // its threads share the rows, if there are many
  RowLocks& locks;
};

// Updates rows of `to`: row rows[i], of `size` elements, is combined with row i of `updates`, or with the single
// element if `updates` is a scalar. `updates` has the dtype of `to`. A repeated row is updated repeatedly, in the given
// order. Negative rows are skipped; the caller has checked that all other rows exist. Integers wrap around. Integer
// division by 0 returns InvalidArgument before anything is changed. With a `table`, rows are locked while they change,
// and none may be negative.
Status UpdateRows(RowUpdate how, std::span<const int64_t> rows, int64_t size, const Tensor& updates, Tensor* to,
                  const RowsInTable* table = nullptr);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_VARIABLES_ROW_UPDATES_H_
