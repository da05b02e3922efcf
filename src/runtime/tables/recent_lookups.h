// What lookups in a growing table have found lately, for the updates of the same keys.
#ifndef TENSORBRAID_RUNTIME_TABLES_RECENT_LOOKUPS_H_
#define TENSORBRAID_RUNTIME_TABLES_RECENT_LOOKUPS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/threads/mutex.h"

namespace tensorbraid {

// The keys of a visit by small table: numbers[begin[t]] to numbers[begin[t + 1]] are the positions of those in small
// table t.
struct KeyOrder {
  std::vector<uint32_t> begin = {};
  std::vector<uint32_t> numbers = {};
  std::vector<uint16_t> tables = {};  // tables[i] is the small table of numbers[i]
};

struct RowInfo;

// Where a row is: its place in memory, and its number in its small table. If there is none, `place` is null.
struct FoundRow {
  RowInfo* place = nullptr;
  uint32_t number = ~uint32_t{0};
};

// What a lookup has found. Rows may have come and gone since, so each one is compared with its key before it is used.
// Their places stay as long as the table has its rows.
struct FoundRows {
  std::vector<int64_t> keys = {};
  KeyOrder order = {};
  std::vector<FoundRow> rows = {};  // rows[i] is the row of key order.numbers[i]
};

// Keeps what the last lookups of moderate size have found. Thread-safe.
class RecentLookups {
 public:
  // Whether the lookup of so many keys should report what it finds. If no update has used the last reports, only a few
  // lookups should: those of an evaluation have no updates.
  bool Wants(size_t keys) {
    constexpr size_t kLeast = 64, kMost = 1 << 14;
    constexpr uint32_t kPatience = 64, kSeldom = 16;
    if (keys < kLeast || keys > kMost) return false;
    MutexLock lock(mu_);
    return ++unused_ <= kPatience || unused_ % kSeldom == 0;
  }
  void Report(std::unique_ptr<FoundRows> found) {
    MutexLock lock(mu_);
    std::swap(found_[next_], found);  // the earlier one is freed after the lock is released
    next_ = (next_ + 1) % found_.size();
  }
  // Takes what the last lookup of exactly these keys has found; null if it is not there.
  std::unique_ptr<FoundRows> Take(std::span<const int64_t> keys) {
    MutexLock lock(mu_);
    for (auto& found : found_) {
      if (found == nullptr || !std::ranges::equal(found->keys, keys)) continue;
      unused_ = 0;
      return std::move(found);
    }
    return nullptr;
  }

 private:
  Mutex mu_;
  std::array<std::unique_ptr<FoundRows>, 4> found_ TB_GUARDED_BY(mu_);
  size_t next_ TB_GUARDED_BY(mu_) = 0;      // the oldest
  uint32_t unused_ TB_GUARDED_BY(mu_) = 0;  // lookups since the last one whose report was used
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_RECENT_LOOKUPS_H_
