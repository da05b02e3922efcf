// Counts of keys in little memory, which may be too high.
#ifndef TENSORBRAID_RUNTIME_TABLES_BLOOM_COUNTS_H_
#define TENSORBRAID_RUNTIME_TABLES_BLOOM_COUNTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/threads/mutex.h"

namespace tensorbraid {

// The size of a counting Bloom filter, which follows from what it is made for.
struct BloomShape {
  int64_t blocks = 0;  // of each small table
  int bits = 0;        // of a counter
  int hashes = 0;      // counters of a key

  // For so many keys in a whole table, of which a part `error` may get a count that is too high, and counts up to
  // `most`. A filter has at least keys * ln(1 / error) / ln(2)^2 counters, as DeepRec's, and more since the counters of
  // a key are in one block: the wider the counters, the more. REQUIRES: keys >= 1, 0 < error < 1, most >= 1.
  static BloomShape For(int64_t keys, double error, int64_t most);
  friend bool operator==(const BloomShape&, const BloomShape&) = default;
};

// A counting Bloom filter for each remainder of keys by 1,000. A key has some counters in one block of 64 bytes, and
// its count is the lowest of them; an update raises only those that are too low. Counters stay at the highest count.
// Memory is zero until a key touches it, and untouched pages take none. Thread-safe: each remainder has a lock, which
// may be acquired while the lock of a small table is held.
class BloomCounts {
 public:
  static constexpr size_t kBlockBytes = 64;
  using Block = std::array<uint64_t, kBlockBytes / sizeof(uint64_t)>;

  // Null if the system does not grant the addresses.
  static std::unique_ptr<BloomCounts> Make(const BloomShape& shape, int64_t most);
  ~BloomCounts();
  BloomCounts(const BloomCounts&) = delete;
  BloomCounts& operator=(const BloomCounts&) = delete;

  const BloomShape& shape() const { return shape_; }
  void Add(int64_t key, int64_t occurrences);
  // Raises the count of a key to `count`, or to the highest one, if it is lower.
  void RaiseTo(int64_t key, int64_t count);
  int64_t CountOf(int64_t key) const;
  // Of the pages that were touched.
  int64_t bytes() const;

  // Calls visit(block, counters) for the blocks of a remainder that are not zero, in ascending order.
  void ForEachBlock(int residue, absl::FunctionRef<void(int64_t block, const Block& counters)> visit) const;
  // Raises the counters of a block to those of another filter of the same shape. REQUIRES: 0 <= block < shape().blocks.
  void RaiseBlock(int residue, int64_t block, const Block& counters);

 private:
  struct Small {
    mutable Mutex mu;
    std::vector<uint64_t> touched TB_GUARDED_BY(mu);  // a bit for each page; empty before the first one
  };
  BloomCounts(const BloomShape& shape, int64_t most, char* memory);
  // Calls visit(counter) for the counters of a key in a block.
  template <typename Visit>
  void ForEachCounter(uint64_t hash, const Visit& visit) const;
  int64_t BlockOf(uint64_t hash) const;
  char* At(int residue, int64_t block) const { return memory_ + residue * bytes_of_small_ + block * kBlock; }
  uint64_t Get(const char* block, int counter) const;
  void Set(char* block, int counter, uint64_t count) const;
  void Raise(int residue, uint64_t hash, absl::FunctionRef<uint64_t(uint64_t)> raised);
  void Touch(Small& small, int64_t block) TB_REQUIRES(small.mu);
  size_t pages_of_small() const;

  static constexpr int64_t kBlock = kBlockBytes, kPage = 4096;
  const BloomShape shape_;
  const uint64_t most_;
  const int counters_of_block_;
  const int64_t bytes_of_small_;
  char* const memory_;
  const std::unique_ptr<Small[]> small_;  // by remainder
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_BLOOM_COUNTS_H_
