// A growing table: a named resource with a row of numbers for each key that was updated.
#ifndef TENSORBRAID_RUNTIME_TABLES_EMBEDDING_TABLE_H_
#define TENSORBRAID_RUNTIME_TABLES_EMBEDDING_TABLE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/threads/mutex.h"
#include "core/threads/thread_pool.h"
#include "runtime/kernel/resource.h"
#include "runtime/tables/eviction.h"
#include "runtime/tables/key_counts.h"
#include "runtime/tables/rows_description.h"
#include "runtime/tables/table_numbers.h"
#include "runtime/tables/table_rows.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The rows of a growing table, or of one part of it. Column 0 is the variable. The slots that optimizers keep for it
// are further columns of the same rows, which have one initial number each. A lookup only reads; an update makes the
// rows that are missing.
//
// A table exists as soon as one of its handles does, and the handle of a slot may come first. Until the handle of the
// variable describes the table, its column 0 is not initialized.
//
// Thread-safe. Lookups, updates and exports run at the same time, and lock small tables for moments. Initialize and the
// last moment of Replace wait for them. All calls that use a column return FailedPrecondition, with its name and what
// to do, while the column is not initialized. Columns are given by number; REQUIRES: AddColumn returned it, or it is 0.
class EmbeddingTable final : public Resource {
 public:
  static constexpr const char* kTypeName = "growing table";
  // An estimate of the time to find the row of a key.
  static constexpr double kVisitNs = 60;
  // `task` is for messages: "ps/0". REQUIRES: dim >= 1.
  EmbeddingTable(std::string name, int64_t dim, std::string task = "")
      : name_(std::move(name)), dim_(dim), task_(std::move(task)) {}

  const std::string& name() const { return name_; }
  int64_t dim() const { return dim_; }
  // "growing table 'users' on ps/0".
  std::string Title() const;

  // The first description makes the table. A later one must be for the same part, or the result is InvalidArgument.
  // What else a description says counts from an Initialize or a Replace with it.
  Status Describe(const std::shared_ptr<const RowsDescription>& description);
  // Returns the column with this name, which is made if there is none. Its rows have `width` numbers, or dim() if that
  // is 0. `initial` is the number in its rows; an existing column keeps its number. InvalidArgument if there are
  // kMostColumns already, or if the column has another width.
  StatusOr<int> AddColumn(const std::string& name, float initial, int64_t width = 0);
  // How many numbers a row has in a column.
  int64_t width(int column) const;

  // Column 0: removes all rows; `as.rows` describes the table from now on. FailedPrecondition if it is null. Another
  // column: sets all rows to `as.initial`, with which its numbers begin from now on. The column is initialized then.
  Status Initialize(int column, const ColumnDescription& as);
  // Whether these columns have what `said`, one for each of them, says about them, as far as it counts for `use`.
  // InvalidArgument, with what differs and what to do, if not. Each program of a cluster has a description of its own,
  // and the table follows the program that has initialized or restored it. What is drawn by a seed of the graph
  // may differ; the log says so once. OK for columns that are not initialized, since using them is another error.
  Status CheckDescribed(std::span<const int> columns, std::span<const ColumnDescription> said, TableUse use) const;
  // Takes a column back to what it was before Initialize; column 0: all rows and all columns. NotFound if the column is
  // not initialized. This is what destroying a handle does.
  Status Uninitialize(int column);
  bool is_initialized(int column) const;
  std::string ColumnName(int column) const;
  // The error of using the column while it is not initialized.
  Status NotInitialized(int column) const;

  // RowsDescription::skip_not_finite of the rows that there are.
  bool skips_not_finite() const;
  // Records that updates have left out so many rows of gradients. Returns how many they had left out before.
  int64_t CountSkipped(int64_t rows) { return skipped_.fetch_add(rows); }

  StatusOr<int64_t> NumRows() const;
  TableMemory Memory() const;
  // What a report says about the table. Locks each small table once, for a moment.
  TableNumbers Numbers() const;

  // Evicts the rows that have to go (EvictRows), small table by small table. Other calls do not wait. Updates begin an
  // eviction in the background when one is due: when there are too many rows, or every 1,000 steps. Then the number of
  // rows falls to 15/16 of the limit, so that evictions are rare.
  void Evict() { EvictTo(16); }

  // What a lookup gives for keys that have no row.
  struct Defaults {
    const float* rows = nullptr;  // null: the first values of the rows
    bool one_for_all = false;     // whether `rows` is one row; otherwise it has one for each key
  };
  // Sets row i of `out`, which has keys.size() rows of width(column), to the numbers of keys[i] in a column. In a table
  // with a filter, a key that has no row gives the first values if it will be admitted by an update with counts[i]
  // occurrences (1 if `counts` is empty). InvalidArgument if the table is a part that does not hold one of the keys.
  Status Lookup(ThreadPool& pool, int column, std::span<const int64_t> keys, std::span<const int64_t> counts,
                const Defaults& defaults, float* out) const;

  // The columns that are initialized: their names, of which the name of the table is the first, and how many numbers a
  // row has in them.
  struct ColumnList {
    std::vector<std::string> names;
    std::vector<int64_t> widths;
  };
  ColumnList InitializedColumns() const;
  // Calls visit(row, frequency) for each key. A key without a row has no info. The frequency is how often updates had
  // the key; -1 in a table without a filter. Calls come one after the other. `columns` are names of columns. Not
  // counted as a lookup.
  Status ReadRows(ThreadPool& pool, std::span<const std::string> columns, std::span<const int64_t> keys,
                  absl::FunctionRef<void(const VisitedRow& row, int64_t frequency)> visit) const;

  // Makes missing rows, calls `apply` with the rows of all keys (see TableRows::VisitKeys), and gives them `version`.
  // In a table with a filter, counts[i] is how often keys[i] has occurred (once if `counts` is empty), and `apply` gets
  // the keys that are admitted.
  Status Update(ThreadPool& pool, std::span<const int> columns, std::span<const int64_t> keys,
                std::span<const int64_t> counts, int64_t version, double cost_ns, const TableRows::Apply& apply);

  // Calls copy(residue, small, counts) for each small table, which is locked when the call begins and ends. `columns`
  // are those that `copy` reads. `counts` are those of the keys, or null without a filter. Several threads may call
  // `copy` at once. Other calls do not wait for an export, even if it takes long. If all rows are replaced or removed
  // meanwhile, it goes on with the earlier rows.
  using Copy = std::function<void(int residue, SmallTable& small, const KeyCounts* counts)>;
  Status Export(ThreadPool& pool, std::span<const int> columns, const Copy& copy) const;
  // As Export, on this thread and with ascending residues. Calls after() after each small table, which is not locked
  // then. Ends at the first error of `after`.
  Status ExportInOrder(std::span<const int> columns, const Copy& copy, absl::FunctionRef<Status()> after) const;

  // Replaces all rows by those that `fill` makes in `rows`, with `visit` as an example of a visit that adds rows: it
  // has the part's first values and initial numbers. `counts` are those of the keys, or null without a filter. If
  // `fill` returns an error, nothing changes. Otherwise `columns`, of which the first is 0, are initialized then, as
  // `as`, one for each of them, says. Other threads use the earlier rows while `fill` runs.
  using Fill = std::function<Status(const RowsDescription& description, const TableRows::Visit& visit, TableRows& rows,
                                    KeyCounts* counts)>;
  Status Replace(std::span<const int> columns, std::span<const ColumnDescription> as, const Fill& fill);

  std::string DebugString() const override;

 private:
  struct Column {
    std::string name;
    int64_t width;      // how many numbers a row has
    float initial = 0;  // in the rows that are made
    bool initialized = false;
  };
  Status CheckInitialized(std::span<const int> columns) const TB_REQUIRES_SHARED(mu_);
  Status Undescribed() const;
  void CountMade(int64_t rows);
  // An estimate of the time to look up one key.
  double LookupNs() const { return kVisitNs + 0.25 * static_cast<double>(dim_); }
  std::vector<float> Initials() const TB_REQUIRES_SHARED(mu_);
  // Rows of this part with all columns.
  std::shared_ptr<TableRows> NewRows(const RowsDescription& description) const TB_REQUIRES_SHARED(mu_);
  int64_t MostRows(const EvictionRule& rule) const TB_REQUIRES_SHARED(mu_);
  // What an export uses, also when other rows take the place of these.
  struct Exported {
    std::shared_ptr<TableRows> rows;
    std::shared_ptr<const KeyCounts> counts;
    std::vector<float> initial;
  };
  StatusOr<Exported> ForExport(std::span<const int> columns) const;
  Status UpdateRows(ThreadPool& pool, std::span<const int> columns, std::span<const int64_t> keys,
                    std::span<const int64_t> counts, int64_t version, double cost_ns, const TableRows::Apply& apply,
                    bool* eviction_is_due);
  bool EvictionIsDue() const TB_REQUIRES_SHARED(mu_);
  // Evicts until at most so many sixteenths of the allowed rows are left.
  void EvictTo(int64_t sixteenths);
  void EvictInBackground(ThreadPool& pool);
  // REQUIRES: the caller has set evicting_.
  void EvictWhileDue();
  // Puts new rows in place of the earlier ones, which end up in the arguments.
  void Exchange(std::shared_ptr<TableRows>& rows, std::shared_ptr<KeyCounts>& counts) TB_REQUIRES(mu_);

  const std::string name_;
  const int64_t dim_;
  const std::string task_;
  Mutex eviction_mu_;       // held by an eviction, which acquires mu_ for moments
  mutable SharedMutex mu_;  // held as a reader by each use of the rows
  std::shared_ptr<const RowsDescription> now_ TB_GUARDED_BY(mu_);  // of the rows; null until the table is described
  std::vector<Column> columns_ TB_GUARDED_BY(mu_) = {{.name = name_, .width = dim_}};
  std::shared_ptr<TableRows> rows_ TB_GUARDED_BY(mu_);    // null until the table is described
  std::shared_ptr<KeyCounts> counts_ TB_GUARDED_BY(mu_);  // of all keys; null without a filter
  std::atomic<int64_t> evictions_{0}, skipped_{0};
  std::atomic<int64_t> eviction_step_{std::numeric_limits<int64_t>::min()};  // the newest step at the last eviction
  std::atomic<bool> evicting_{false};                                        // in the background
  // Of all lookups and updates since the table exists.
  mutable std::atomic<int64_t> lookups_{0}, hits_{0};
  std::atomic<int64_t> admissions_{0};
  LastMinute growth_;
};

// What a handle of a growing table names: the variable or one slot. Each handle has an object of its own, since
// programs may describe a table differently.
class TableColumn final : public Resource {
 public:
  static constexpr const char* kTypeName = "growing table's column";
  TableColumn(RefPtr<EmbeddingTable> table, int column, ColumnDescription said)
      : table_(std::move(table)), column_(column), said_(std::move(said)) {}

  EmbeddingTable& table() const { return *table_; }
  int column() const { return column_; }
  // What this handle says about the column.
  const ColumnDescription& said() const { return said_; }
  std::string DebugString() const override;

 private:
  const RefPtr<EmbeddingTable> table_;
  const int column_;
  const ColumnDescription said_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_EMBEDDING_TABLE_H_
