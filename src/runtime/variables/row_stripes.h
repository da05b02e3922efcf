// Visits scattered rows of tables whose rows have locks (runtime/variables/row_locks.h). The implementation is in
// src/kernels/cpu/row_stripes.cc.
#ifndef TENSORBRAID_RUNTIME_VARIABLES_ROW_STRIPES_H_
#define TENSORBRAID_RUNTIME_VARIABLES_ROW_STRIPES_H_

#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "core/threads/thread_pool.h"
#include "runtime/variables/row_locks.h"

namespace tensorbraid::cpu {

// An estimate of the time that the update of one row takes.
inline double RowUpdateNs(int64_t row_bytes) { return 5 + 0.1 * static_cast<double>(row_bytes); }

// Calls visit(numbers) so that each number of [0, rows.size()) is visited once; number i stands for row rows[i]. Each
// call gets the numbers of one stripe, in increasing order, while the lock of this stripe is held in each table.
// Several threads share the stripes if the work is worth it. `cost_ns` is the time for one row.
//
// `tables` have the same number of rows, and are locked in their order. Without tables, one call gets all numbers.
// REQUIRES: all rows exist.
void VisitByStripe(ThreadPool& pool, std::span<const int64_t> rows, std::span<RowLocks* const> tables, double cost_ns,
                   absl::FunctionRef<void(std::span<const int64_t> numbers)> visit);

// As VisitByStripe, for updates: also records that the rows change, in the tables that record changes.
void UpdateByStripe(ThreadPool& pool, std::span<const int64_t> rows, std::span<RowLocks* const> tables, double cost_ns,
                    absl::FunctionRef<void(std::span<const int64_t> numbers)> update);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_RUNTIME_VARIABLES_ROW_STRIPES_H_
