// A small table: the rows of a growing table whose keys have the same remainder by 1,000.
#ifndef TENSORBRAID_RUNTIME_TABLES_SMALL_TABLE_H_
#define TENSORBRAID_RUNTIME_TABLES_SMALL_TABLE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/threads/mutex.h"
#include "runtime/tables/changes.h"
#include "runtime/tables/row_chunks.h"
#include "runtime/tables/row_index.h"

namespace tensorbraid {

// Computes the first values of rows. Thread-safe.
class FirstRows {
 public:
  virtual ~FirstRows() = default;
  // Sets the numbers that the row of this key has when it is made. They depend on nothing but the table and the key.
  virtual void Fill(int64_t key, std::span<float> row) const = 0;
};

// What a row has besides its numbers.
struct RowInfo {
  int64_t key;
  int64_t version;  // the global step of the last update
};

// Memory in bytes.
struct TableMemory {
  int64_t rows = 0;
  int64_t numbers = 0;      // of the numbers of all rows in all columns
  int64_t reserved = 0;     // of chunks of numbers, including what no row uses yet
  int64_t beside = 0;       // of keys, versions, indices and lists
  uint32_t most_moved = 0;  // the most entries of an index that one insertion has moved
  void Add(const TableMemory& other);
};

// Rows are numbered from 0 in the order of their insertion, and neither move nor end. Their numbers are columns:
// column 0 is the variable, the others are slots of optimizers. The owner holds `mu` during every call.
class SmallTable {
 public:
  // `dim` is the length of a row in each column. `first_size` is explained in row_index.h.
  SmallTable(int64_t dim, uint32_t first_size) : dim_(static_cast<size_t>(dim)), index_(first_size) {}

  Mutex mu;
  // Null unless changes are recorded, which the first save begins that increments can follow. Whoever makes, changes or
  // deletes a row reports it there.
  std::unique_ptr<Changes> changes TB_GUARDED_BY(mu);

  // Begin to load memory that later calls for a key need: this object, which is not locked yet; its lists and the slots
  // of the index; the entry of a row in the list of each column.
  void PrefetchSelf() const {
    for (size_t at = 0; at < sizeof(*this); at += 64) __builtin_prefetch(reinterpret_cast<const char*>(this) + at, 1);
  }
  void PrefetchIndex(uint64_t hash) const TB_REQUIRES(mu) {
    index_.Prefetch(hash);
    infos_.PrefetchList();
    __builtin_prefetch(columns_.data());
  }
  void PrefetchEntries(std::span<const int> columns, uint32_t row) const TB_REQUIRES(mu) {
    infos_.PrefetchEntry(RowPlace(row));
    for (const int column : columns) columns_[static_cast<size_t>(column)].PrefetchEntry(RowPlace(row));
  }
  uint32_t Candidate(uint64_t hash) const TB_REQUIRES(mu) { return index_.Candidate(hash); }
  uint32_t Find(int64_t key, uint64_t hash) const TB_REQUIRES(mu) {
    const RowChunks<RowInfo>* const infos = &infos_;
    return index_.Find(hash, [infos, key](uint32_t row) { return infos->At(RowPlace(row), 1)->key == key; });
  }
  // Makes the columns that are missing of initial.size() columns. Their rows get the initial number of the column.
  // Returns false if there is no memory.
  bool EnsureColumns(std::span<const float> initial) TB_REQUIRES(mu);
  // Makes a row with version -1 and returns its number. Column 0 gets its values from `rows`; if `rows` is null, the
  // caller sets them. The other columns get their initial numbers. Returns RowIndex::kNone if there is no memory.
  // REQUIRES: the key has no row; EnsureColumns(initial).
  uint32_t Add(int64_t key, uint64_t hash, const FirstRows* rows, std::span<const float> initial) TB_REQUIRES(mu);
  // Sets all rows of a column to this number.
  void FillColumn(size_t column, float initial) TB_REQUIRES(mu);

  uint32_t rows() const TB_REQUIRES(mu) { return index_.rows(); }
  RowInfo& info(uint32_t row) const TB_REQUIRES(mu) { return *infos_.At(RowPlace(row), 1); }
  // The numbers of a row in a column. REQUIRES: the column exists.
  float* numbers(size_t column, uint32_t row) const TB_REQUIRES(mu) { return columns_[column].At(RowPlace(row), dim_); }
  TableMemory Memory() const TB_REQUIRES(mu);

 private:
  bool AddChunk() TB_REQUIRES(mu);

  const size_t dim_;
  RowIndex index_ TB_GUARDED_BY(mu);
  RowChunks<RowInfo> infos_ TB_GUARDED_BY(mu);
  std::vector<RowChunks<float>> columns_ TB_GUARDED_BY(mu);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_SMALL_TABLE_H_
