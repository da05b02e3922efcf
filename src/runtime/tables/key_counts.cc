#include "runtime/tables/key_counts.h"

#include <algorithm>
#include <limits>

#include "runtime/tables/table_rows.h"

namespace tensorbraid {
namespace {

uint32_t Saturated(int64_t count) {
  return static_cast<uint32_t>(std::clamp<int64_t>(count, 0, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

// Open addressing: a key is in the first place from its own on that was free when it came. A count of 0 is a free
// place. Where an entry is erased, later ones move up, so that no search ends too early.
class KeyCounts::Map {
 public:
  // The entry of the key, which is made with the count 0 if there is none. The caller makes the count positive.
  KeyCount& Entry(int64_t key) TB_REQUIRES(mu) {
    if (4 * (used_ + 1) > 3 * entries_.size()) Grow();
    KeyCount& entry = entries_[PlaceOf(key)];
    if (entry.count == 0) {
      entry = {.key = key, .version = 0, .count = 0};
      ++used_;
    }
    entry.changed = saves_;
    return entry;
  }
  // Null if the key was never counted.
  const KeyCount* Find(int64_t key) const TB_REQUIRES(mu) {
    if (entries_.empty()) return nullptr;
    const KeyCount& entry = entries_[PlaceOf(key)];
    return entry.count == 0 ? nullptr : &entry;
  }
  void Erase(int64_t key) TB_REQUIRES(mu) {
    if (entries_.empty()) return;
    const size_t mask = entries_.size() - 1;
    size_t gap = PlaceOf(key);
    if (entries_[gap].count == 0) return;
    --used_;
    for (size_t at = (gap + 1) & mask; entries_[at].count != 0; at = (at + 1) & mask) {
      // An entry may move to the gap if its own place is not between the gap and where it is.
      const size_t own = KeyHash(entries_[at].key) & mask;
      if (((at - own) & mask) < ((at - gap) & mask)) continue;
      entries_[gap] = entries_[at];
      gap = at;
    }
    entries_[gap].count = 0;
  }
  // As KeyCounts::TakeSince. A save may fail later, so that the next one names the save before it; see changes.h.
  void TakeSince(uint64_t predecessor, uint64_t save, absl::FunctionRef<void(const KeyCount&)> visit) TB_REQUIRES(mu) {
    if (predecessor == taken_.number) saved_ = taken_;
    const uint32_t since = predecessor != 0 && predecessor == saved_.number ? saved_.saves : 0;
    for (const KeyCount& entry : entries_) {
      if (entry.count != 0 && entry.changed >= since) visit(entry);
    }
    TakeAll(save);
  }
  void TakeAll(uint64_t save) TB_REQUIRES(mu) { taken_ = {.number = save, .saves = ++saves_}; }
  const std::vector<KeyCount>& entries() const TB_REQUIRES(mu) { return entries_; }
  size_t used() const TB_REQUIRES(mu) { return used_; }

  mutable Mutex mu;

 private:
  // The place of the key, or the free one where it would be.
  size_t PlaceOf(int64_t key) const TB_REQUIRES(mu) {
    const size_t mask = entries_.size() - 1;
    size_t at = KeyHash(key) & mask;
    while (entries_[at].count != 0 && entries_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void Grow() TB_REQUIRES(mu) {
    const std::vector<KeyCount> earlier = std::move(entries_);
    entries_.assign(std::max<size_t>(8, 2 * earlier.size()), {.key = 0, .version = 0, .count = 0});
    for (const KeyCount& entry : earlier) {
      if (entry.count != 0) entries_[PlaceOf(entry.key)] = entry;
    }
  }

  std::vector<KeyCount> entries_ TB_GUARDED_BY(mu);  // a power of two
  size_t used_ TB_GUARDED_BY(mu) = 0;
  struct Save {
    uint64_t number = 0;
    uint32_t saves = 0;  // entries with this number in `changed`, or a higher one, have changed since
  };
  Save saved_ TB_GUARDED_BY(mu), taken_ TB_GUARDED_BY(mu);  // the last save known to be complete, and the last one
  uint32_t saves_ TB_GUARDED_BY(mu) = 0;
};

KeyCounts::KeyCounts(std::unique_ptr<BloomCounts> bloom)
    : bloom_(std::move(bloom)), maps_(bloom_ == nullptr ? std::make_unique<Map[]>(kSmallTables) : nullptr) {}
KeyCounts::~KeyCounts() = default;

KeyCounts::Map& KeyCounts::MapOf(int64_t key) const { return maps_[static_cast<size_t>(TableRows::ResidueOf(key))]; }

void KeyCounts::Add(int64_t key, int64_t occurrences, int64_t version) {
  if (bloom_ != nullptr) return bloom_->Add(key, occurrences);
  if (occurrences <= 0) return;
  Map& map = MapOf(key);
  MutexLock lock(map.mu);
  KeyCount& entry = map.Entry(key);
  entry.count = Saturated(int64_t{entry.count} + std::min<int64_t>(occurrences, std::numeric_limits<uint32_t>::max()));
  entry.version = version;
}

void KeyCounts::RaiseTo(int64_t key, int64_t count, int64_t version) {
  if (bloom_ != nullptr) return bloom_->RaiseTo(key, count);
  if (count <= 0) return;
  Map& map = MapOf(key);
  MutexLock lock(map.mu);
  KeyCount& entry = map.Entry(key);
  entry.count = std::max(entry.count, Saturated(count));
  entry.version = version;
}

void KeyCounts::Erase(int64_t key) {
  if (bloom_ != nullptr) return;  // other keys have the same counters
  Map& map = MapOf(key);
  MutexLock lock(map.mu);
  map.Erase(key);
}

void KeyCounts::EraseIf(int residue, absl::FunctionRef<bool(const KeyCount&)> erased) {
  if (bloom_ != nullptr) return;
  Map& map = maps_[static_cast<size_t>(residue)];
  MutexLock lock(map.mu);
  std::vector<int64_t> keys;
  for (const KeyCount& entry : map.entries()) {
    if (entry.count != 0 && erased(entry)) keys.push_back(entry.key);
  }
  for (const int64_t key : keys) map.Erase(key);
}

int64_t KeyCounts::CountOf(int64_t key) const {
  if (bloom_ != nullptr) return bloom_->CountOf(key);
  const Map& map = MapOf(key);
  MutexLock lock(map.mu);
  const KeyCount* const entry = map.Find(key);
  return entry == nullptr ? 0 : int64_t{entry->count};
}

void KeyCounts::ForEach(int residue, absl::FunctionRef<void(const KeyCount&)> visit) const {
  if (bloom_ != nullptr) return;
  const Map& map = maps_[static_cast<size_t>(residue)];
  MutexLock lock(map.mu);
  for (const KeyCount& entry : map.entries()) {
    if (entry.count != 0) visit(entry);
  }
}

void KeyCounts::TakeAll(int residue, uint64_t save) const {
  if (bloom_ != nullptr) return;
  Map& map = maps_[static_cast<size_t>(residue)];
  MutexLock lock(map.mu);
  map.TakeAll(save);
}

void KeyCounts::TakeSince(int residue, uint64_t predecessor, uint64_t save,
                          absl::FunctionRef<void(const KeyCount&)> visit) const {
  if (bloom_ != nullptr) return;
  Map& map = maps_[static_cast<size_t>(residue)];
  MutexLock lock(map.mu);
  map.TakeSince(predecessor, save, visit);
}

int64_t KeyCounts::keys() const {
  if (bloom_ != nullptr) return 0;
  size_t keys = 0;
  for (size_t r = 0; r < kSmallTables; ++r) {
    MutexLock lock(maps_[r].mu);
    keys += maps_[r].used();
  }
  return static_cast<int64_t>(keys);
}

int64_t KeyCounts::bytes() const {
  if (bloom_ != nullptr) return bloom_->bytes();
  size_t bytes = kSmallTables * sizeof(Map);
  for (size_t r = 0; r < kSmallTables; ++r) {
    MutexLock lock(maps_[r].mu);
    bytes += maps_[r].entries().capacity() * sizeof(KeyCount);
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace tensorbraid
