// The rows of a growing table, or of one part of it: 1,000 small tables, or those of the part.
#ifndef TENSORBRAID_RUNTIME_TABLES_TABLE_ROWS_H_
#define TENSORBRAID_RUNTIME_TABLES_TABLE_ROWS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/threads/thread_pool.h"
#include "runtime/tables/recent_lookups.h"
#include "runtime/tables/small_table.h"
#include "runtime/tables/table_numbers.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The number of small tables of a whole table. A key is in small table number floor-mod(key, 1000).
inline constexpr int kSmallTables = 1000;

// A row during a visit.
struct VisitedRow {
  size_t number;                                  // the position of its key in the visit's keys
  RowInfo* info = nullptr;                        // null: the key has no row
  std::array<float*, kMostColumns> numbers = {};  // in the visit's columns, in their order
};

// Thread-safe. No call waits for anything but the locks of small tables, which are held briefly.
class TableRows {
 public:
  // Part `part` of `parts` holds the small tables r with r % parts == part. Rows have `dim` numbers in each column, but
  // see SetWidth.
  // REQUIRES: dim >= 1, 0 <= part < parts <= kSmallTables.
  TableRows(int64_t dim, int part, int parts);

  int64_t dim() const { return static_cast<int64_t>(shared_.dim); }
  // How many numbers a row has in a column.
  int64_t width(size_t column) const { return shared_.begin[column + 1] - shared_.begin[column]; }
  // From now on, rows have so many numbers in a column. REQUIRES: width >= 1, 0 < column < kMostColumns, and nothing
  // uses this column or a later one yet. Not thread-safe with calls that use them.
  void SetWidth(size_t column, int64_t width);

  // What a visit does with keys that have no row.
  enum class Absent { kReport, kAdd };
  struct Visit {
    std::span<const int64_t> keys;
    std::span<const int> columns;         // at most kMostColumns
    Absent absent = Absent::kReport;      // kReport: `rows` and `initial` are not used
    const FirstRows* rows = nullptr;      // the first values of column 0; if null, `apply` sets the values of new rows
    std::span<const float> initial = {};  // the initial number of each column (that of column 0 is not used)
    double cost_ns = 50;                  // an estimate of the time for one key
    bool write = false;                   // whether `apply` changes the rows
    VisitCounts* counts = nullptr;        // if not null: the rows that the visit finds and makes are added
    bool before_update = false;           // whether an update of the same keys probably follows
    // If not empty, `apply` uses a part of this memory for each key: the first one for keys[0], and so on. It is loaded
    // with the rows.
    std::span<const float> beside = {};
  };
  using Apply = std::function<void(std::span<const VisitedRow> rows)>;
  // Calls `apply` with the rows of all keys, some at a time, while it holds the locks of their small tables. Each lock
  // is taken once. A key that occurs repeatedly is visited repeatedly, in order. Several threads of the pool
  // share the work if it is worth it. InvalidArgument, before anything is visited, if the part does not hold one of the
  // keys; ResourceExhausted if there is no memory for a new row.
  Status VisitKeys(ThreadPool& pool, const Visit& visit, const Apply& apply);

  // Makes the columns that are missing of initial.size() columns. ResourceExhausted if there is no memory.
  Status EnsureColumns(std::span<const float> initial);
  // As EnsureColumns, and sets all rows of a column to its initial number.
  Status FillColumn(size_t column, std::span<const float> initial);

  // Records from now on what changes. All rows are as they were at the save `saved` (Changes).
  void RecordChanges(uint64_t saved);

  // Calls visit(residue, small) for each small table, which is locked during the call. Several threads may call `visit`
  // at once. Makes the columns that are missing of initial.size() columns before; ResourceExhausted if there is no
  // memory.
  using VisitTable = std::function<void(int residue, SmallTable& small)>;
  Status ForEachSmallTable(ThreadPool& pool, std::span<const float> initial, const VisitTable& visit);
  // As ForEachSmallTable, on this thread and with ascending residues. Calls after() after each small table, when it is
  // not locked. Ends at the first error of `after`.
  Status ForEachInOrder(std::span<const float> initial, const VisitTable& visit, absl::FunctionRef<Status()> after);

  // The number of rows; those that other threads make or erase now count or not.
  int64_t NumRows() const { return made_ - erased_; }
  // Whoever erases rows of small tables says how many.
  void CountErased(int64_t rows) { erased_ += rows; }
  // The newest global step in which rows were updated; the lowest number if there is none. Whoever updates rows reports
  // the step.
  int64_t newest_step() const { return newest_step_.load(std::memory_order_relaxed); }
  void ReachStep(int64_t step) {
    int64_t newest = newest_step();
    while (newest < step && !newest_step_.compare_exchange_weak(newest, step, std::memory_order_relaxed)) {
    }
  }
  TableMemory Memory() const;

  // floor-mod(key, kSmallTables).
  static int ResidueOf(int64_t key) {
    const auto r = static_cast<int>(key % kSmallTables);
    return r < 0 ? r + kSmallTables : r;
  }

 private:
  StatusOr<KeyOrder> OrderOf(std::span<const int64_t> keys) const;
  class Visitor;

  const int part_, parts_;
  // So many small tables in a row have a lock in common.
  static constexpr size_t kTablesOfLock = 8;

  SmallTable::Shared shared_;
  RecentLookups lookups_;
  std::vector<BriefLock> locks_;
  std::vector<SmallTable> small_;  // number t holds residue part + t * parts
  std::atomic<int64_t> made_{0}, erased_{0};
  std::atomic<int64_t> newest_step_{std::numeric_limits<int64_t>::min()};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_TABLE_ROWS_H_
