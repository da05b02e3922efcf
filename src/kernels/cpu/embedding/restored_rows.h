// Reads the rows of growing tables from checkpoints.
#ifndef TENSORBRAID_KERNELS_CPU_EMBEDDING_RESTORED_ROWS_H_
#define TENSORBRAID_KERNELS_CPU_EMBEDDING_RESTORED_ROWS_H_

#include <string>
#include <vector>

#include "runtime/kernel/kernel.h"
#include "runtime/tables/embedding_table.h"

namespace tensorbraid::cpu {

// Where the rows of a table, or of a part of one, are in a checkpoint.
struct RestoredTable {
  std::string whole;               // the name of the whole table: "a/b/emb"
  std::vector<std::string> slots;  // names within the table; "" is the table itself
  std::vector<int> columns;        // those of `slots`
};

// Adds the rows that a part of a table has after a full checkpoint, which is the first of `prefixes`, and the
// increments that follow it, to `rows`. `counts` gets the counts of keys; null if the table has no filter. Increments
// have only those of keys with rows. The saved table may have any number of parts, or be a static variable: key i
// gets its row i. NotFound if one of the checkpoints lacks the table or a slot, InvalidArgument if dtypes or shapes
// do not fit or the first checkpoint is an increment, FailedPrecondition if the table has a filter and the saved one
// had none, DataLoss for damaged files.
Status ReadRows(KernelContext& ctx, const RestoredTable& table, const std::vector<std::string>& prefixes,
                const RowsDescription& description, const TableRows::Visit& visit, TableRows& rows, KeyCounts* counts);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_EMBEDDING_RESTORED_ROWS_H_
