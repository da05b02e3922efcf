// A small table: the rows of a growing table whose keys have the same remainder by 1,000.
#ifndef TENSORBRAID_RUNTIME_TABLES_SMALL_TABLE_H_
#define TENSORBRAID_RUNTIME_TABLES_SMALL_TABLE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/threads/brief_lock.h"
#include "runtime/tables/changes.h"
#include "runtime/tables/row_arena.h"
#include "runtime/tables/row_chunks.h"
#include "runtime/tables/row_index.h"

namespace tensorbraid {

// The most columns of a table, and the most that one visit may use.
inline constexpr size_t kMostColumns = 8;

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

  // The version of a place whose row was erased. Rows have later ones.
  static constexpr int64_t kFree = std::numeric_limits<int64_t>::min();
};

// Memory in bytes.
struct TableMemory {
  int64_t rows = 0;
  int64_t numbers = 0;      // of the numbers of all rows in all columns
  int64_t unused = 0;       // for rows that do not exist yet
  int64_t beside = 0;       // of keys, versions, indices and lists
  uint32_t most_moved = 0;  // the most entries of an index that one insertion has moved
  int64_t total() const { return numbers + unused + beside; }
  void Add(const TableMemory& other);
};

// Rows are numbered from 0 in the order of their insertion, and do not move. An erased row is free, and its place is
// that of the next new one. Their numbers are columns: column 0 is the variable, the others are slots of optimizers. A
// row is one piece of memory: its info, then its columns. Columns that are added when there are rows already have
// pieces of their own. The owner holds `mu` during every call. Neighbours share a lock, so that a visit takes fewer
// locks. A thread that holds the lock of a small table must not take it again for a neighbour.
class alignas(64) SmallTable {
 public:
  // What the small tables of a table share. It outlives them.
  struct Shared {
    explicit Shared(size_t dim) : dim(dim) {
      for (size_t column = 0; column < begin.size(); ++column) begin[column] = static_cast<uint32_t>(column * dim);
    }
    const size_t dim;  // how many numbers column 0 has in a row
    // Where the numbers of a column begin in a row; those of the next column follow.
    std::array<uint32_t, kMostColumns + 1> begin;
    RowArena arena = {};
    // In every row, the columns with a lower number than this are in the same piece of memory as the row's info.
    std::atomic<size_t> together = kMostColumns;
    // Whether a small table records changes. It is set while the lock of this small table is held.
    std::atomic<bool> records_changes{false};
  };
  // `base` is explained in row_index.h. The lock outlives this object.
  SmallTable(Shared& shared, BriefLock& lock, uint32_t base) : mu(lock), shared_(&shared), index_(base) {}

  BriefLock& mu;

  // Begins to load this object, which is not locked yet. Searches for rows of the first chunks need only the second
  // line of the cache.
  void PrefetchSelf(bool all) const {
    if (all) __builtin_prefetch(this);
    __builtin_prefetch(reinterpret_cast<const char*>(this) + 64);
  }
  // Call visit(address) for the lines of the cache that later calls for a key need: the buckets of the index, and the
  // entry of a row in the list of chunks.
  template <typename Visit>
  void VisitBuckets(uint64_t hash, const Visit& visit) const TB_REQUIRES(mu) {
    index_.VisitBuckets(hash, visit);
  }
  void PrefetchMove() const TB_REQUIRES(mu) { index_.PrefetchMove(progress_); }
  template <typename Visit>
  void VisitEntry(uint32_t row, const Visit& visit) const TB_REQUIRES(mu) {
    if (const void* entry = chunks_.EntryOf(RowPlace(row)); entry != nullptr) visit(entry);
  }
  uint32_t Candidate(uint64_t hash) const TB_REQUIRES(mu) { return index_.Candidate(hash); }
  // The bytes of a place: of its info, and of the columns that are not later ones.
  size_t place_bytes() const TB_REQUIRES(mu) { return stride_; }
  // The place of a row, which stays the same; null if there is no memory for so many rows yet.
  RowInfo* PlaceOf(uint32_t row) const TB_REQUIRES(mu) {
    const RowPlace place(row);
    return chunks_.Has(place.chunk) ? reinterpret_cast<RowInfo*>(chunks_.At(place, stride_)) : nullptr;
  }
  // Whether a place has the row of the key.
  static bool IsRowOf(const RowInfo& place, int64_t key) { return place.key == key && place.version != RowInfo::kFree; }
  uint32_t Find(int64_t key, uint64_t hash) const TB_REQUIRES(mu) {
    return index_.Find(hash, [this, key](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS { return info(row).key == key; });
  }
  // Makes the columns that are missing of initial.size() columns. Their rows get the initial number of the column.
  // Returns false if there is no memory.
  bool EnsureColumns(std::span<const float> initial) TB_REQUIRES(mu) {
    return initial.size() <= columns_ || AddColumns(initial);
  }
  // Makes a row with version -1 and returns its number. Column 0 gets its values from `rows`; if `rows` is null, the
  // caller sets them. The other columns get their initial numbers. Returns RowIndex::kNone if there is no memory.
  // REQUIRES: the key has no row; EnsureColumns(initial).
  uint32_t Add(int64_t key, uint64_t hash, const FirstRows* rows, std::span<const float> initial) TB_REQUIRES(mu);
  // Erases a row. Its key has none then. REQUIRES: there is such a row.
  void Erase(uint32_t row) TB_REQUIRES(mu);
  // Sets all rows of a column to this number.
  void FillColumn(size_t column, float initial) TB_REQUIRES(mu);

  uint32_t rows() const TB_REQUIRES(mu) { return progress_.rows; }
  // The number of all places, also of the free ones.
  uint32_t end_row() const TB_REQUIRES(mu) { return rows() + NumFree(); }
  bool HasRow(uint32_t row) const TB_REQUIRES(mu) { return info(row).version != RowInfo::kFree; }
  // How often a row was erased, or a free place used again, modulo 65,536. As long as it stays the same, rows that
  // exist keep their places, and new ones come after them.
  uint16_t turnover() const TB_REQUIRES(mu) { return turnover_; }
  // The number that the next new row gets.
  uint32_t next_row() const TB_REQUIRES(mu) { return free_ != RowIndex::kNone ? free_ : rows(); }
  // Calls visit(row) for each row, in the order of their numbers. `visit` may erase the row.
  template <typename Visit>
  void ForEachRow(const Visit& visit) const TB_REQUIRES(mu) {
    const uint32_t end = end_row();
    for (uint32_t row = 0; row < end; ++row) {
      if (HasRow(row)) visit(row);
    }
  }
  // The bytes of a place up to the end of a column.
  size_t BytesTo(size_t column) const { return sizeof(RowInfo) + shared_->begin[column + 1] * sizeof(float); }
  // How many numbers a row has in a column.
  size_t width(size_t column) const { return shared_->begin[column + 1] - shared_->begin[column]; }
  RowInfo& info(uint32_t row) const TB_REQUIRES(mu) {
    return *reinterpret_cast<RowInfo*>(chunks_.At(RowPlace(row), stride_));
  }
  // The numbers of a row in a column. REQUIRES: the column exists.
  float* numbers(size_t column, uint32_t row) const TB_REQUIRES(mu) {
    if (column < first_columns_) [[likely]] {
      return reinterpret_cast<float*>(chunks_.At(RowPlace(row), stride_) + sizeof(RowInfo)) + shared_->begin[column];
    }
    return reinterpret_cast<float*>((*later_)[column - first_columns_].At(RowPlace(row), row_bytes(column)));
  }
  // The same, if the place of the row is known.
  float* numbers(size_t column, uint32_t row, RowInfo* place) const TB_REQUIRES(mu) {
    if (column < first_columns_) [[likely]]
      return reinterpret_cast<float*>(place + 1) + shared_->begin[column];
    return numbers(column, row);
  }
  TableMemory Memory() const TB_REQUIRES(mu);
  // Sets `changes`. All rows are as they were at the save `saved`.
  void RecordChanges(uint64_t saved) TB_REQUIRES(mu) {
    shared_->records_changes.store(true, std::memory_order_relaxed);
    changes = std::make_unique<Changes>(saved);
  }

 private:
  size_t row_bytes(size_t column) const { return width(column) * sizeof(float); }
  bool AddColumns(std::span<const float> initial) TB_REQUIRES(mu);
  // The free places are a list, whose links are in the keys of the places: the next one, and above it how many there
  // are up to the end of the list.
  uint32_t NumFree() const TB_REQUIRES(mu) {
    return free_ == RowIndex::kNone ? 0 : static_cast<uint32_t>(static_cast<uint64_t>(info(free_).key) >> 32);
  }
  // Makes the chunk with this number in all columns. REQUIRES: the earlier ones exist.
  bool EnsureChunk(uint32_t chunk) TB_REQUIRES(mu);

  // The first line of the cache.
  Shared* const shared_;
  std::unique_ptr<std::vector<RowChunks>> later_ TB_GUARDED_BY(mu);  // columns that came when there were rows

 public:
  // Null unless changes are recorded, which the first save begins that increments can follow. Whoever makes, changes or
  // deletes a row reports it there.
  std::unique_ptr<Changes> changes TB_GUARDED_BY(mu);

 private:
  [[no_unique_address]] RowIndex::Progress progress_ TB_GUARDED_BY(mu);
  uint8_t columns_ : 4 TB_GUARDED_BY(mu) = 0;        // all
  uint8_t first_columns_ : 4 TB_GUARDED_BY(mu) = 0;  // those in `chunks_`
  uint16_t turnover_ TB_GUARDED_BY(mu) = 0;
  uint32_t free_ TB_GUARDED_BY(mu) = RowIndex::kNone;  // the first free place
  RowChunks chunks_ TB_GUARDED_BY(mu);                 // of infos and the first columns
  // The second line of the cache begins with the places of the first chunks.
  [[no_unique_address]] RowIndex index_ TB_GUARDED_BY(mu);
  uint32_t stride_ = 0;  // of a row in `chunks_`, in bytes
};
static_assert(sizeof(SmallTable) == 128, "a visit loads at most two lines of the cache");

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_SMALL_TABLE_H_
