#include "runtime/tables/table_rows.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// The keys whose memory is loaded at the same time. Their small tables are locked at the same time, too.
constexpr size_t kGroup = 32;

// The locks are held for microseconds, so it is worth trying some times before the thread goes to sleep.
void LockSoon(Mutex& mu) TB_NO_THREAD_SAFETY_ANALYSIS {
  constexpr int kTries = 64;
  for (int i = 0; i < kTries; ++i) {
    if (mu.TryLock()) return;
  }
  mu.Lock();
}

// Begins to load a row. The processor predicts what follows the first lines of a long one.
template <bool kWrite>
void Prefetch(const RowInfo& info, std::span<const float* const> columns, int64_t dim) {
  constexpr int64_t kPerLine = 16, kMost = 128;
  __builtin_prefetch(&info, kWrite ? 1 : 0);
  for (const float* const row : columns) {
    for (int64_t at = 0; at < std::min(dim, kMost); at += kPerLine) __builtin_prefetch(row + at, kWrite ? 1 : 0);
  }
}

Status NoMemory(int64_t dim) {
  return ResourceExhausted("there is no memory for another row of ", dim,
                           " numbers in a growing table: add servers, or "
                           "give the table more parts");
}

}  // namespace

TableRows::TableRows(int64_t dim, int part, int parts) : dim_(dim), part_(part), parts_(parts) {
  // Indices grow by half, so first sizes from 16 to 24 spread the moments at which they grow.
  for (int r = part; r < kSmallTables; r += parts) {
    small_.push_back(std::make_unique<SmallTable>(dim, 16 + static_cast<uint32_t>(r) % 8));
  }
}

StatusOr<TableRows::Order> TableRows::OrderOf(std::span<const int64_t> keys) const {
  if (keys.size() > std::numeric_limits<uint32_t>::max()) {
    return InvalidArgument("a growing table takes at most 2^32 - 1 keys at a time, got ", keys.size());
  }
  Order order{.begin = std::vector<size_t>(small_.size() + 2),
              .numbers = std::vector<uint32_t>(keys.size()),
              .tables = std::vector<uint16_t>(keys.size())};
  // A counting sort. The sizes are counted two places further on, so that after the sum begin[t + 1] is where small
  // table t begins, and each key that is placed advances it, up to the end of the small table.
  for (size_t i = 0; i < keys.size(); ++i) {
    const int residue = ResidueOf(keys[i]);
    if (residue % parts_ != part_) {
      return InvalidArgument("key ", keys[i], " belongs to part ", residue % parts_, " of ", parts_,
                             " of the table, but was sent to part ", part_,
                             ": a key belongs to part floor-mod(floor-mod(key, ", kSmallTables, "), parts)");
    }
    order.tables[i] = static_cast<uint16_t>(residue / parts_);
    ++order.begin[size_t{order.tables[i]} + 2];
  }
  std::partial_sum(order.begin.begin(), order.begin.end(), order.begin.begin());
  for (size_t i = 0; i < keys.size(); ++i) {
    order.numbers[order.begin[size_t{order.tables[i]} + 1]++] = static_cast<uint32_t>(i);
  }
  return order;
}

Status TableRows::VisitKeys(ThreadPool& pool, const Visit& visit, const Apply& apply) {
  TF_ASSIGN_OR_RETURN(const Order order, OrderOf(visit.keys));
  std::atomic<bool> failed{false};
  const double cost_of_table =
      visit.cost_ns * static_cast<double>(visit.keys.size()) / static_cast<double>(small_.size());
  pool.ParallelFor(static_cast<int64_t>(small_.size()), cost_of_table, [&](int64_t first, int64_t last) {
    if (!VisitTables(visit, order, static_cast<size_t>(first), static_cast<size_t>(last), apply)) failed = true;
  });
  return failed ? NoMemory(dim_) : OkStatus();
}

// Locks small tables in the order of their numbers until they have kGroup keys together, and visits these.
bool TableRows::VisitTables(const Visit& visit, const Order& order, size_t first, size_t last,
                            const Apply& apply) TB_NO_THREAD_SAFETY_ANALYSIS {
  const auto& begin = order.begin;
  bool ok = true;
  while (first < last) {
    size_t end = first + 1;
    while (end < last && begin[end + 1] - begin[first] <= kGroup) ++end;
    const std::span<const uint32_t> numbers(order.numbers.data() + begin[first], begin[end] - begin[first]);
    for (size_t t = first; t < end; ++t) {
      if (begin[t] == begin[t + 1]) continue;
      LockSoon(small_[t]->mu);
      if (visit.absent == Absent::kAdd) ok = small_[t]->EnsureColumns(visit.initial) && ok;
    }
    for (size_t t = end; t < last && begin[t + 1] - begin[end] <= kGroup; ++t) {  // those that come next
      if (begin[t] != begin[t + 1]) small_[t]->PrefetchSelf();
    }
    for (size_t at = 0; ok && at < numbers.size(); at += kGroup) {
      ok = VisitSome(visit, order, numbers.subspan(at, std::min(kGroup, numbers.size() - at)), apply);
    }
    for (size_t t = first; t < end; ++t) {
      if (begin[t] != begin[t + 1]) small_[t]->mu.Unlock();
    }
    if (!ok) return false;
    first = end;
  }
  return true;
}

// Four passes over some keys. The first loads slots of the indices, the second the places of the rows that these slots
// name, the third the rows. So the fourth, which does the work, rarely waits for memory.
bool TableRows::VisitSome(const Visit& visit, const Order& order, std::span<const uint32_t> numbers,
                          const Apply& apply) TB_NO_THREAD_SAFETY_ANALYSIS {
  std::array<SmallTable*, kGroup> tables;
  std::array<uint64_t, kGroup> hashes;
  std::array<uint32_t, kGroup> candidates;
  std::array<VisitedRow, kGroup> rows;
  for (size_t i = 0; i < numbers.size(); ++i) {
    tables[i] = small_[order.tables[numbers[i]]].get();
    hashes[i] = KeyHash(visit.keys[numbers[i]]);
    tables[i]->PrefetchIndex(hashes[i]);
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    candidates[i] = tables[i]->Candidate(hashes[i]);
    if (candidates[i] != RowIndex::kNone) tables[i]->PrefetchEntries(visit.columns, candidates[i]);
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (candidates[i] == RowIndex::kNone) continue;
    std::array<const float*, kMostColumns> columns;
    for (size_t c = 0; c < visit.columns.size(); ++c) {
      columns[c] = tables[i]->numbers(static_cast<size_t>(visit.columns[c]), candidates[i]);
    }
    (visit.write ? Prefetch<true> : Prefetch<false>)(tables[i]->info(candidates[i]),
                                                     {columns.data(), visit.columns.size()}, dim_);
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    SmallTable& small = *tables[i];
    const int64_t key = visit.keys[numbers[i]];
    uint32_t row = candidates[i];
    if (row == RowIndex::kNone || small.info(row).key != key) row = small.Find(key, hashes[i]);
    if (row == RowIndex::kNone && visit.absent == Absent::kAdd) {
      row = small.Add(key, hashes[i], visit.rows, visit.initial);
      if (row == RowIndex::kNone) return false;
    }
    rows[i] = {.number = numbers[i]};
    if (row == RowIndex::kNone) continue;
    if (visit.write && small.changes != nullptr) small.changes->Changed(row);
    rows[i].info = &small.info(row);
    for (size_t c = 0; c < visit.columns.size(); ++c) {
      rows[i].numbers[c] = small.numbers(static_cast<size_t>(visit.columns[c]), row);
    }
  }
  apply({rows.data(), numbers.size()});
  return true;
}

Status TableRows::EnsureColumns(std::span<const float> initial) {
  for (const auto& small : small_) {
    MutexLock lock(small->mu);
    if (!small->EnsureColumns(initial)) return NoMemory(dim_);
  }
  return OkStatus();
}

Status TableRows::FillColumn(size_t column, std::span<const float> initial) {
  for (const auto& small : small_) {
    MutexLock lock(small->mu);
    if (!small->EnsureColumns(initial)) return NoMemory(dim_);
    small->FillColumn(column, initial[column]);
  }
  return OkStatus();
}

void TableRows::RecordChanges(uint64_t saved) {
  for (const auto& small : small_) {
    MutexLock lock(small->mu);
    small->changes = std::make_unique<Changes>(saved);
  }
}

Status TableRows::ForEachSmallTable(ThreadPool& pool, std::span<const float> initial, const Begin& begin,
                                    const Copy& copy) {
  std::vector<uint32_t> counts;
  std::vector<int64_t> firsts;
  int64_t rows = 0;
  for (const auto& small : small_) {
    MutexLock lock(small->mu);
    if (!small->EnsureColumns(initial)) return NoMemory(dim_);
    counts.push_back(small->rows());
    firsts.push_back(rows);
    rows += counts.back();
  }
  TF_RETURN_IF_ERROR(begin(rows));
  const double cost_ns = static_cast<double>(rows) / static_cast<double>(small_.size()) *
                         static_cast<double>(dim_ * static_cast<int64_t>(initial.size()));
  pool.ParallelFor(static_cast<int64_t>(small_.size()), cost_ns, [&](int64_t first, int64_t last) {
    for (auto t = static_cast<size_t>(first); t < static_cast<size_t>(last); ++t) {
      MutexLock lock(small_[t]->mu);
      copy(part_ + static_cast<int>(t) * parts_, firsts[t], *small_[t], counts[t]);
    }
  });
  return OkStatus();
}

int64_t TableRows::NumRows() const {
  int64_t rows = 0;
  for (const auto& small : small_) {
    MutexLock lock(small->mu);
    rows += small->rows();
  }
  return rows;
}

TableMemory TableRows::Memory() const {
  TableMemory memory;
  for (const auto& small : small_) {
    MutexLock lock(small->mu);
    memory.Add(small->Memory());
  }
  memory.beside += static_cast<int64_t>(sizeof(*this) + small_.capacity() * sizeof(small_[0]));
  return memory;
}

}  // namespace tensorbraid
