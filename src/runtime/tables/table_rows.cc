#include "runtime/tables/table_rows.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <numeric>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// The keys that are in a stage of a visit at the same time.
constexpr size_t kGroup = 32;

Status NoMemory(int64_t dim) {
  return ResourceExhausted("there is no memory for another row of ", dim,
                           " numbers in a growing table: add servers, or "
                           "give the table more parts");
}

}  // namespace

TableRows::TableRows(int64_t dim, int part, int parts)
    : part_(part),
      parts_(parts),
      shared_(static_cast<size_t>(dim)),
      locks_((static_cast<size_t>((kSmallTables - part + parts - 1) / parts) + kTablesOfLock - 1) / kTablesOfLock) {
  const auto tables = static_cast<size_t>((kSmallTables - part + parts - 1) / parts);
  small_.reserve(tables);
  for (size_t t = 0; t < tables; ++t) {
    // Indices double, so second sizes from 8 to 15 buckets spread the moments at which they grow.
    small_.emplace_back(shared_, locks_[t / kTablesOfLock], 8 + static_cast<uint32_t>(t) % 8);
  }
}

void TableRows::SetWidth(size_t column, int64_t width) {
  const auto change = static_cast<uint32_t>(width - this->width(column));
  for (size_t later = column + 1; later < shared_.begin.size(); ++later) shared_.begin[later] += change;
}

StatusOr<KeyOrder> TableRows::OrderOf(std::span<const int64_t> keys) const {
  if (keys.size() > std::numeric_limits<uint32_t>::max()) {
    return InvalidArgument("a growing table takes at most 2^32 - 1 keys at a time, got ", keys.size());
  }
  KeyOrder order{.begin = std::vector<uint32_t>(small_.size() + 2),
                 .numbers = std::vector<uint32_t>(keys.size()),
                 .tables = std::vector<uint16_t>(keys.size())};
  std::vector<uint16_t> table_of(keys.size());
  // A counting sort. The sizes are counted two places further on, so that after the sum begin[t + 1] is where small
  // table t begins, and each key that is placed advances it, up to the end of the small table.
  for (size_t i = 0; i < keys.size(); ++i) {
    const int residue = ResidueOf(keys[i]);
    if (residue % parts_ != part_) {
      return InvalidArgument("key ", keys[i], " belongs to part ", residue % parts_, " of ", parts_,
                             " of the table, but was sent to part ", part_,
                             ": a key belongs to part floor-mod(floor-mod(key, ", kSmallTables, "), parts)");
    }
    table_of[i] = static_cast<uint16_t>(residue / parts_);
    ++order.begin[size_t{table_of[i]} + 2];
  }
  std::partial_sum(order.begin.begin(), order.begin.end(), order.begin.begin());
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint32_t at = order.begin[size_t{table_of[i]} + 1]++;
    order.numbers[at] = static_cast<uint32_t>(i);
    order.tables[at] = table_of[i];
  }
  return order;
}

// Visits some keys, in the order of their small tables. Four stages work on four groups of keys at a time: the first
// three find out where the next ones read memory, and what they found is loaded at once. So the processor waits for
// many lines of the cache at the same time. It drops a prefetch of an address whose page it has not used lately, but
// not a load. A lock is held from the first stage of its first key to the last stage of its last one. Locks are taken
// in the order of the small tables.
class TableRows::Visitor {
 public:
  // `known` has the rows that the keys probably have, in their order; empty if nothing is known. The rows that are
  // found are written to `found`, unless it is empty.
  Visitor(TableRows& rows, const Visit& visit, const KeyOrder& order, std::span<const FoundRow> known,
          std::span<FoundRow> found, const Apply& apply)
      : rows_(rows), visit_(visit), order_(order), all_known_(known), all_found_(found), apply_(apply) {
    for (const int column : visit.columns) {
      const auto c = static_cast<size_t>(column);
      row_bytes_ = std::max(row_bytes_, rows.small_[0].BytesTo(c));
      columns_ = std::max(columns_, c + 1);
    }
    row_bytes_ = std::min(row_bytes_, kMostLines * kLine);
    if (!visit.keys.empty()) beside_ = visit.beside.size() / visit.keys.size();
    if (beside_ * sizeof(float) < kLine / 2) beside_ = 0;  // they are in few lines
  }

  // Visits the keys of the small tables from `first` to before `last`. Returns false if there is no memory.
  bool VisitTables(size_t first, size_t last) TB_NO_THREAD_SAFETY_ANALYSIS {
    const size_t begin = order_.begin[first], count = order_.begin[last] - begin;
    numbers_ = std::span(order_.numbers).subspan(begin, count);
    tables_ = std::span(order_.tables).subspan(begin, count);
    if (!all_known_.empty()) known_ = all_known_.subspan(begin, count);
    if (!all_found_.empty()) found_rows_ = all_found_.subspan(begin, count);
    unlocked_ = locked_ = first / kTablesOfLock;
    const size_t groups = (numbers_.size() + kGroup - 1) / kGroup;
    bool ok = true;
    for (size_t step = 0; ok && step < groups + 3; ++step) {
      if (step < groups) ok = FindBuckets(step);
      if (ok && step >= 1 && step - 1 < groups) FindCandidates(step - 1);
      if (ok && step >= 2 && step - 2 < groups) FindPlaces(step - 2);
      Load();
      if (ok && step >= 3) ok = Work(step - 3);
    }
    if (made_ > 0) rows_.made_ += static_cast<int64_t>(made_);
    if (visit_.counts != nullptr) {
      visit_.counts->found += static_cast<int64_t>(found_);
      visit_.counts->made += static_cast<int64_t>(made_);
    }
    UnlockTo(locked_);
    return ok;
  }

 private:
  static constexpr size_t kLine = 64;
  // The processor predicts what follows the first lines of a long row.
  static constexpr size_t kMostLines = 8;

  // A key on its way through the stages.
  struct Key {
    SmallTable* table;  // null: the row is probably known, and nothing else of the small table is needed
    uint64_t hash;      // not there if the place of the row is known from the beginning
    FoundRow row;       // one that is probably its row
  };
  size_t Begin(size_t group) const { return group * kGroup; }
  size_t End(size_t group) const { return std::min(numbers_.size(), (group + 1) * kGroup); }
  Key& At(size_t i) { return keys_[i % keys_.size()]; }

  // Notes an address that is loaded before the next stage.
  void LoadLater(const void* address) { addresses_[num_addresses_++] = static_cast<const char*>(address); }
  // Nothing but the loads is in the loop, so that as many as possible are in the processor at the same time.
  void Load() {
    for (size_t i = 0; i < num_addresses_; ++i) static_cast<void>(*static_cast<const volatile char*>(addresses_[i]));
    num_addresses_ = 0;
  }

  // Releases the locks before number `lock`. A lock is held if it is among those of the keys that have been in the
  // first stage.
  void UnlockTo(size_t lock) TB_NO_THREAD_SAFETY_ANALYSIS {
    for (; unlocked_ < lock; ++unlocked_) {
      if ((held_[unlocked_ / 64] >> unlocked_ % 64 & 1) != 0) rows_.locks_[unlocked_].Unlock();
    }
  }
  void LockOf(size_t table) TB_NO_THREAD_SAFETY_ANALYSIS {
    const size_t lock = table / kTablesOfLock;
    if (lock < locked_) return;
    rows_.locks_[lock].Lock();
    held_[lock / 64] |= uint64_t{1} << lock % 64;
    locked_ = lock + 1;
    together_ = columns_ <= rows_.shared_.together.load(std::memory_order_relaxed);
    records_ = visit_.write && rows_.shared_.records_changes.load(std::memory_order_relaxed);
  }

  bool FindBuckets(size_t group) TB_NO_THREAD_SAFETY_ANALYSIS {
    const bool adds = visit_.absent == Absent::kAdd;
    for (size_t i = Begin(group); i < End(group); ++i) {
      Key& key = At(i);
      const size_t t = tables_[i];
      LockOf(t);
      key.row = known_.empty() ? FoundRow() : known_[i];
      if (key.row.place != nullptr && together_ && !records_) {
        key.table = nullptr;
        continue;
      }
      key.table = &rows_.small_[t];
      if (adds && !key.table->EnsureColumns(visit_.initial)) return false;
      if (key.row.place != nullptr) continue;
      key.hash = KeyHash(visit_.keys[numbers_[i]]);
      key.table->VisitBuckets(key.hash, [this](const void* address) { LoadLater(address); });
      if (adds) key.table->PrefetchMove();
    }
    for (size_t i = End(group); i < End(group + 1); ++i) {
      if (!known_.empty() && known_[i].place != nullptr && together_ && !records_) continue;
      rows_.small_[tables_[i]].PrefetchSelf(adds || !together_);
    }
    return true;
  }

  void FindCandidates(size_t group) TB_NO_THREAD_SAFETY_ANALYSIS {
    for (size_t i = Begin(group); i < End(group); ++i) {
      Key& key = At(i);
      if (key.row.place != nullptr) continue;
      key.row.number = key.table->Candidate(key.hash);
      if (key.row.number != RowIndex::kNone) {
        key.table->VisitEntry(key.row.number, [this](const void* address) { LoadLater(address); });
      }
    }
  }

  void FindPlaces(size_t group) TB_NO_THREAD_SAFETY_ANALYSIS {
    const bool adds = visit_.absent == Absent::kAdd;
    for (size_t i = Begin(group); i < End(group); ++i) {
      Key& key = At(i);
      if (beside_ > 0) LoadLater(visit_.beside.data() + numbers_[i] * beside_);
      const RowInfo* place = key.row.place;
      if (place == nullptr) {
        if (key.row.number != RowIndex::kNone) {
          place = key.row.place = key.table->PlaceOf(key.row.number);
        } else if (adds) {
          place = key.table->PlaceOf(key.table->next_row());
        }
        if (place == nullptr) continue;
      }
      const bool together = together_ || key.table == nullptr;
      const size_t bytes = together ? row_bytes_ : std::min<size_t>(row_bytes_, key.table->place_bytes());
      const auto begin = reinterpret_cast<uintptr_t>(place);
      for (uintptr_t line = begin / kLine * kLine; line < begin + bytes; line += kLine) {
        LoadLater(reinterpret_cast<const void*>(line));
      }
    }
  }

  bool Work(size_t group) TB_NO_THREAD_SAFETY_ANALYSIS {
    const size_t begin = Begin(group), end = End(group);
    for (size_t i = begin; i < end; ++i) {
      Key& key = At(i);
      VisitedRow& visited = visited_[i - begin];
      visited.number = numbers_[i];
      visited.info = nullptr;
      const int64_t number = visit_.keys[numbers_[i]];
      if (key.row.place == nullptr || !SmallTable::IsRowOf(*key.row.place, number)) {
        key.table = &rows_.small_[tables_[i]];
        key.row = FindOrAdd(key, number);
        if (!found_rows_.empty()) found_rows_[i] = key.row;
        if (key.row.place == nullptr) {
          if (visit_.absent == Absent::kAdd) return false;
          continue;
        }
      } else if (!found_rows_.empty()) {
        found_rows_[i] = key.row;
      }
      ++found_;
      visited.info = key.row.place;
      if (visit_.write && key.table != nullptr && key.table->changes != nullptr) {
        key.table->changes->Changed(key.row.number);
      }
      const bool together = together_ || key.table == nullptr;
      for (size_t c = 0; c < visit_.columns.size(); ++c) {
        const auto column = static_cast<size_t>(visit_.columns[c]);
        visited.numbers[c] = together ? reinterpret_cast<float*>(key.row.place + 1) + rows_.shared_.begin[column]
                                      : key.table->numbers(column, key.row.number, key.row.place);
      }
    }
    apply_({visited_.data(), end - begin});
    UnlockTo(end == numbers_.size() ? locked_ : tables_[end] / kTablesOfLock);
    return true;
  }

  // For a key that has another row than its candidate, or none. Has no place if the key has no row, or there is no
  // memory for one.
  FoundRow FindOrAdd(const Key& key, int64_t number) TB_NO_THREAD_SAFETY_ANALYSIS {
    const auto found = [&key](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
      return FoundRow{.place = key.table->PlaceOf(row), .number = row};
    };
    const bool adds = visit_.absent == Absent::kAdd;
    if (key.row.number == RowIndex::kNone && !adds) return {};
    // Earlier keys of this visit may have added the row since the candidate was looked for.
    const uint64_t hash = KeyHash(number);
    uint32_t row = key.table->Find(number, hash);
    if (row != RowIndex::kNone) return found(row);
    if (!adds || !key.table->EnsureColumns(visit_.initial)) return {};
    row = key.table->Add(number, hash, visit_.rows, visit_.initial);
    if (row == RowIndex::kNone) return {};
    ++made_;
    --found_;  // Work counts each row that it has
    return found(row);
  }

  TableRows& rows_;
  const Visit& visit_;
  const KeyOrder& order_;
  const std::span<const FoundRow> all_known_;
  const std::span<FoundRow> all_found_;
  const Apply& apply_;
  size_t row_bytes_ = sizeof(RowInfo);  // the bytes of a row that are loaded
  size_t beside_ = 0;                   // numbers of Visit::beside for each key
  size_t columns_ = 1;                  // those before this one are visited
  // Of the small tables of the last lock: whether the visited columns follow the info of each row, and whether changes
  // may be recorded. Once columns do not follow the info, they never will.
  bool together_ = false, records_ = false;
  std::span<const uint32_t> numbers_;  // the positions of the keys, by small table
  std::span<const uint16_t> tables_;   // their small tables
  std::span<const FoundRow> known_;    // the rows that they probably have; empty: nothing is known
  std::span<FoundRow> found_rows_;     // those that they have; empty: they are not needed
  size_t found_ = 0, made_ = 0;        // rows
  size_t locked_ = 0, unlocked_ = 0;   // the locks before these were taken if necessary, and released
  std::array<uint64_t, (kSmallTables / kTablesOfLock + 64) / 64> held_{};  // a bit for each lock that was taken
  std::array<Key, 4 * kGroup> keys_;                                       // a ring
  std::array<VisitedRow, kGroup> visited_;
  // Of two buckets, an entry, the lines of a row and what is beside it for each key.
  std::array<const char*, kGroup*(3 + kMostLines + 2)> addresses_;
  size_t num_addresses_ = 0;
};

Status TableRows::VisitKeys(ThreadPool& pool, const Visit& visit, const Apply& apply) {
  // An update usually follows a lookup of its keys, whose order and rows it can use.
  std::unique_ptr<FoundRows> found = visit.write ? lookups_.Take(visit.keys) : nullptr;
  KeyOrder own;
  const KeyOrder* order = &own;
  std::span<const FoundRow> known;
  std::span<FoundRow> report;
  if (found != nullptr) {
    known = found->rows;
    order = &found->order;
  } else {
    TF_ASSIGN_OR_RETURN(own, OrderOf(visit.keys));
    if (visit.before_update && lookups_.Wants(visit.keys.size())) {
      found = std::make_unique<FoundRows>();
      found->keys.assign(visit.keys.begin(), visit.keys.end());
      found->order = std::move(own);
      order = &found->order;
      found->rows.resize(visit.keys.size());
      report = found->rows;
    }
  }
  std::atomic<bool> failed{false};
  const double cost_of_table =
      visit.cost_ns * static_cast<double>(visit.keys.size()) / static_cast<double>(small_.size());
  pool.ParallelFor(static_cast<int64_t>(small_.size()), cost_of_table, [&](int64_t first, int64_t last) {
    Visitor visitor(*this, visit, *order, known, report, apply);
    if (!visitor.VisitTables(static_cast<size_t>(first), static_cast<size_t>(last))) failed = true;
  });
  if (failed) return NoMemory(dim());
  if (!report.empty()) lookups_.Report(std::move(found));
  return OkStatus();
}

Status TableRows::EnsureColumns(std::span<const float> initial) {
  for (auto& small : small_) {
    BriefLockHolder lock(small.mu);
    if (!small.EnsureColumns(initial)) return NoMemory(dim());
  }
  return OkStatus();
}

Status TableRows::FillColumn(size_t column, std::span<const float> initial) {
  for (auto& small : small_) {
    BriefLockHolder lock(small.mu);
    if (!small.EnsureColumns(initial)) return NoMemory(dim());
    small.FillColumn(column, initial[column]);
  }
  return OkStatus();
}

void TableRows::RecordChanges(uint64_t saved) {
  for (auto& small : small_) {
    BriefLockHolder lock(small.mu);
    small.RecordChanges(saved);
  }
}

Status TableRows::ForEachSmallTable(ThreadPool& pool, std::span<const float> initial, const VisitTable& visit) {
  std::atomic<bool> failed{false};
  const double cost_ns = static_cast<double>(NumRows()) / static_cast<double>(small_.size()) *
                         static_cast<double>(dim() * static_cast<int64_t>(initial.size()));
  pool.ParallelFor(static_cast<int64_t>(small_.size()), cost_ns, [&](int64_t first, int64_t last) {
    for (auto t = static_cast<size_t>(first); t < static_cast<size_t>(last); ++t) {
      BriefLockHolder lock(small_[t].mu);
      if (small_[t].EnsureColumns(initial)) {
        visit(part_ + static_cast<int>(t) * parts_, small_[t]);
      } else {
        failed = true;
      }
    }
  });
  return failed ? NoMemory(dim()) : OkStatus();
}

Status TableRows::ForEachInOrder(std::span<const float> initial, const VisitTable& visit,
                                 absl::FunctionRef<Status()> after) {
  for (size_t t = 0; t < small_.size(); ++t) {
    {
      BriefLockHolder lock(small_[t].mu);
      if (!small_[t].EnsureColumns(initial)) return NoMemory(dim());
      visit(part_ + static_cast<int>(t) * parts_, small_[t]);
    }
    TF_RETURN_IF_ERROR(after());
  }
  return OkStatus();
}

TableMemory TableRows::Memory() const {
  TableMemory memory;
  for (auto& small : small_) {
    BriefLockHolder lock(small.mu);
    memory.Add(small.Memory());
  }
  memory.beside += static_cast<int64_t>(sizeof(*this));
  return memory;
}

}  // namespace tensorbraid
