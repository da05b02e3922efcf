// How often keys have occurred in updates, for growing tables that admit a key after some occurrences.
#ifndef TENSORBRAID_RUNTIME_TABLES_KEY_COUNTS_H_
#define TENSORBRAID_RUNTIME_TABLES_KEY_COUNTS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/threads/mutex.h"
#include "runtime/tables/bloom_counts.h"

namespace tensorbraid {

// What is known of a key, whether it has a row or not.
struct KeyCount {
  int64_t key;
  int64_t version;       // the global step in which it was last counted
  uint32_t count;        // stays at the largest number
  uint32_t changed = 0;  // when it was last counted: after this number of saves
};

// The counts of the keys of one part of a table. They are in a hash table for each remainder by 1,000, so that one that
// grows moves a thousandth of the keys. Or a Bloom filter counts them, which knows no keys: then nothing is forgotten
// or visited. Thread-safe: each has a lock, which is held for moments, and may be acquired while the lock of a small
// table is held.
class KeyCounts {
 public:
  explicit KeyCounts(std::unique_ptr<BloomCounts> bloom = nullptr);
  ~KeyCounts();

  // Adds occurrences of a key, of which there may be none, in this step.
  void Add(int64_t key, int64_t occurrences, int64_t version);
  // Raises the count of a key to `count`, if it is lower, and sets the step in which it was last counted.
  void RaiseTo(int64_t key, int64_t count, int64_t version);
  // Forgets a key.
  void Erase(int64_t key);
  // Forgets the keys with this remainder for which erased(count) holds. `erased` does not use this object.
  void EraseIf(int residue, absl::FunctionRef<bool(const KeyCount&)> erased);
  // 0 for a key that was never counted.
  int64_t CountOf(int64_t key) const;
  // Calls visit(count) for each key with this remainder, in no particular order. `visit` does not use this object.
  void ForEach(int residue, absl::FunctionRef<void(const KeyCount&)> visit) const;

  // For increments of checkpoints (runtime/tables/changes.h). A save takes the counts of a remainder: all of them, or
  // those that have changed since the save `predecessor`, which are all if that is not known. The number of the save is
  // `save`. Counts that were forgotten are not told. `visit` does not use this object.
  void TakeAll(int residue, uint64_t save) const;
  void TakeSince(int residue, uint64_t predecessor, uint64_t save,
                 absl::FunctionRef<void(const KeyCount&)> visit) const;

  // Null unless a Bloom filter counts.
  BloomCounts* bloom() const { return bloom_.get(); }
  // The keys that are known.
  int64_t keys() const;
  int64_t bytes() const;

 private:
  class Map;
  Map& MapOf(int64_t key) const;
  const std::unique_ptr<BloomCounts> bloom_;
  const std::unique_ptr<Map[]> maps_;  // by remainder; null if a Bloom filter counts
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_KEY_COUNTS_H_
