// The index of a small table: finds the number of a key's row. It grows a few entries at a time.
#ifndef TENSORBRAID_RUNTIME_TABLES_ROW_INDEX_H_
#define TENSORBRAID_RUNTIME_TABLES_ROW_INDEX_H_

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/tables/row_arena.h"

namespace tensorbraid {

// A hash of a key; every bit of the key changes half of the bits.
inline uint64_t KeyHash(int64_t key) {
  auto x = static_cast<uint64_t>(key);
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

// A hash table that holds row numbers and no keys: the owner of the rows compares the keys. Its buckets are lines of
// the cache with 15 entries, which are compared at once. An entry that finds its bucket full goes into the next one.
//
// An entry has 32 bits: the row number + 1 in as many bits as the number of entries needs, and above them bits of the
// hash. So hardly any other row than the right one has to be compared. A full array is replaced by one of twice the
// size, and each later insertion moves the entries of one bucket. Bucket b becomes 2 b and 2 b + 1, by the highest bit
// of an entry, so that moving it needs no key. Not thread-safe.
class RowIndex {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  // An insertion moves the entries of one bucket.
  static constexpr uint32_t kMostMoves = 15;

  // `base` is the number of buckets of the second array; the first has one bucket, and each later one has twice as many
  // as the one before. Indices that grow at the same time should differ in it, so that their arrays fill up at
  // different moments. REQUIRES: 1 <= base <= 16.
  explicit RowIndex(uint32_t base = 1) : base_(static_cast<uint8_t>(base)) {}

  // Calls visit(address) for the buckets at which the search for this hash begins.
  template <typename Visit>
  void VisitBuckets(uint64_t hash, const Visit& visit) const {
    if (now_.buckets != nullptr) visit(&now_.buckets[now_.HomeOf(hash)]);
    if (old_ != nullptr) visit(&old_->buckets[old_->HomeOf(hash)]);
  }
  // Begins to load the buckets that an insertion moves.
  void PrefetchMove() const {
    if (old_ == nullptr) return;
    const uint32_t next = old_->next_move;
    __builtin_prefetch(&old_->buckets[next]);
    for (uint32_t b : {2 * next, 2 * next + 1}) __builtin_prefetch(&now_.buckets[b], 1);
  }

  // A row that probably has this hash, or kNone if no row has it.
  uint32_t Candidate(uint64_t hash) const {
    return Find(hash, [](uint32_t) { return true; });
  }

  // The row with this hash for which is_row(number) holds, or kNone.
  template <typename IsRow>
  uint32_t Find(uint64_t hash, const IsRow& is_row) const {
    const uint32_t row = now_.Find(hash, is_row);
    return row != kNone || old_ == nullptr ? row : old_->Find(hash, is_row);
  }

  // Adds a row, which has this hash. Memory comes from the arena, which outlives the index. hash_of(row) is the hash of
  // a row that was added before. Returns false and adds nothing if there is no memory, or if there would be more than
  // 2^30 rows. REQUIRES: the key has no row; `row` is at most the number of rows that there have been at the same time.
  template <typename HashOf>
  bool Insert(uint64_t hash, uint32_t row, RowArena& arena, const HashOf& hash_of) {
    uint32_t moved = 0;
    if (old_ != nullptr) moved = MoveBucket(hash_of);
    if (rows_ == now_.Limit() && !Grow(arena)) return false;
    now_.Put(now_.HomeOf(hash), now_.Entry(hash, row));
    ++rows_;
    most_moved_ = static_cast<uint8_t>(std::max<uint32_t>(most_moved_, moved));
    return true;
  }

  // Removes a row, which has this hash. REQUIRES: it was added.
  void Erase(uint64_t hash, uint32_t row) {
    now_.Erase(hash, row);
    if (old_ != nullptr) old_->Erase(hash, row);
    --rows_;
  }

  uint32_t rows() const { return rows_; }
  // The most entries that one insertion has moved.
  uint32_t most_moved() const { return most_moved_; }
  int64_t bytes() const {
    return static_cast<int64_t>(sizeof(Bucket)) * (int64_t{now_.size} + (old_ == nullptr ? 0 : old_->size));
  }

 private:
  static constexpr uint32_t kEntries = 15;
  static constexpr uint32_t kMostEntries = 14;  // on average
  // Small arrays are in the arena, whose pages are huge, and stay there when they have been replaced, as long as the
  // table. Larger ones are freed.
  static constexpr size_t kMostOfArena = 2048;
  static constexpr uint32_t kMostPassed = 0xffff;  // the count stays there
  static constexpr uint32_t kDisplaced = uint32_t{1} << 16;

  struct alignas(64) Bucket {
    uint32_t entries[kEntries];  // 0: none
    // The low 16 bits count the entries that went to a later bucket because this one was full. Bit 16 + i tells that
    // entry i came from an earlier bucket.
    uint32_t marks;

    uint32_t passed() const { return marks & kMostPassed; }
    // Bit i tells whether entry i equals `entry` in all but the low `bits` bits.
    uint32_t Equal(uint32_t entry, int bits) const {
      constexpr uint32_t kAll = (uint32_t{1} << kEntries) - 1;
#if defined(__SSE2__)
      const __m128i all = _mm_set1_epi32(static_cast<int>(entry));
      const __m128i shift = _mm_cvtsi32_si128(bits);
      const auto* const at = reinterpret_cast<const __m128i*>(entries);
      const auto equal = [&](int i) {
        return _mm_cmpeq_epi32(_mm_srl_epi32(_mm_xor_si128(_mm_load_si128(at + i), all), shift), _mm_setzero_si128());
      };
      const __m128i low = _mm_packs_epi32(equal(0), equal(1)), high = _mm_packs_epi32(equal(2), equal(3));
      return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high))) & kAll;
#else
      uint32_t result = 0;
      for (uint32_t i = 0; i < kEntries; ++i) result |= uint32_t{((entries[i] ^ entry) >> bits) == 0} << i;
      return result & kAll;
#endif
    }
  };

  // The hash as a fraction of 1, times `base`, has the number of the first array's bucket before the point, and after
  // it `doublings` more bits of the bucket's number, and then the bits that entries hold.
  struct Array {
    Bucket* buckets = nullptr;
    uint32_t size = 0;  // buckets
    uint8_t base = 0, doublings = 0;
    uint8_t row_bits = 0;  // the low bits of an entry, which hold the row number + 1
    bool of_heap = false;  // otherwise the buckets belong to the arena

    Array() = default;
    Array(Array&& other) noexcept { swap(other); }
    Array& operator=(Array&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Array() {
      if (of_heap) std::free(buckets);
    }
    void swap(Array& other) {
      std::swap(buckets, other.buckets);
      std::swap(size, other.size);
      std::swap(base, other.base);
      std::swap(doublings, other.doublings);
      std::swap(row_bits, other.row_bits);
      std::swap(of_heap, other.of_heap);
    }
    // Makes the empty buckets. Returns false if there is no memory.
    bool Allocate(RowArena& arena) {
      const size_t bytes = size * sizeof(Bucket);
      of_heap = bytes > kMostOfArena;
      buckets = static_cast<Bucket*>(of_heap ? std::aligned_alloc(alignof(Bucket), bytes) : arena.Allocate(bytes));
      if (buckets != nullptr) std::memset(static_cast<void*>(buckets), 0, bytes);
      return buckets != nullptr;
    }

    uint32_t Limit() const { return size * kMostEntries; }  // of the number of entries
    uint32_t HomeOf(uint64_t hash) const { return static_cast<uint32_t>((hash >> 32) * base >> (32 - doublings)); }
    uint32_t Next(uint32_t bucket) const { return bucket + 1 == size ? 0 : bucket + 1; }
    uint32_t RowMask() const { return (uint32_t{1} << row_bits) - 1; }
    uint32_t Bits(uint64_t hash) const { return static_cast<uint32_t>((hash >> 32) * base) << doublings; }
    uint32_t Entry(uint64_t hash, uint32_t row) const { return (Bits(hash) & ~RowMask()) | (row + 1); }

    // Calls visit(row, bucket, entry) for the entries that may have this hash, until it returns true.
    template <typename Visit>
    void Search(uint64_t hash, const Visit& visit) const {
      if (size == 0) return;
      const uint32_t bits = Bits(hash);
      uint32_t b = HomeOf(hash);
      for (uint32_t seen = 0; seen < size; ++seen) {
        const Bucket& bucket = buckets[b];
        for (uint32_t equal = bucket.Equal(bits, row_bits); equal != 0; equal &= equal - 1) {
          const auto i = static_cast<uint32_t>(std::countr_zero(equal));
          const uint32_t row = (bucket.entries[i] & RowMask()) - 1;
          // An empty entry may equal a hash whose bits are 0.
          if (row != kNone && visit(row, b, i)) return;
        }
        if (bucket.passed() == 0) return;
        b = Next(b);
      }
    }
    template <typename IsRow>
    uint32_t Find(uint64_t hash, const IsRow& is_row) const {
      uint32_t found = kNone;
      Search(hash, [&](uint32_t row, uint32_t, uint32_t) {
        if (!is_row(row)) return false;
        found = row;
        return true;
      });
      return found;
    }
    void Put(uint32_t home, uint32_t entry) {
      uint32_t b = home;
      for (; true; b = Next(b)) {
        Bucket& bucket = buckets[b];
        const uint32_t empty = bucket.Equal(0, 0);
        if (empty != 0) {
          const auto i = static_cast<uint32_t>(std::countr_zero(empty));
          bucket.entries[i] = entry;
          if (b != home) bucket.marks |= kDisplaced << i;
          return;
        }
        if (bucket.passed() < kMostPassed) ++bucket.marks;
      }
    }
    void Erase(uint64_t hash, uint32_t row) {
      Search(hash, [&](uint32_t r, uint32_t b, uint32_t i) {
        if (r != row) return false;
        buckets[b].entries[i] = 0;
        buckets[b].marks &= ~(kDisplaced << i);
        for (uint32_t passed = HomeOf(hash); passed != b; passed = Next(passed)) {
          if (buckets[passed].passed() < kMostPassed) --buckets[passed].marks;
        }
        return true;
      });
    }
  };

  // An array is twice as large as the one before (the second has at most 16 buckets), and an insertion empties a
  // bucket. So `old_` is empty long before `now_` is full.
  bool Grow(RowArena& arena) {
    Array grown;
    grown.base = now_.size == 0 ? 1 : base_;
    if (now_.size != 0 && now_.base == base_) grown.doublings = static_cast<uint8_t>(now_.doublings + 1);
    grown.size = uint32_t{grown.base} << grown.doublings;
    grown.row_bits = static_cast<uint8_t>(std::bit_width(uint32_t{grown.base} * kMostEntries) + grown.doublings);
    if (grown.row_bits > 30) return false;
    if (!grown.Allocate(arena)) return false;
    if (now_.size != 0) old_ = std::make_unique<Earlier>(std::move(now_));
    now_ = std::move(grown);
    return true;
  }

  // Copies the entries of a bucket of `old_`, and returns their number. They stay there until all have been copied, so
  // that searches find them.
  template <typename HashOf>
  uint32_t MoveBucket(const HashOf& hash_of) {
    const uint32_t b = old_->next_move++;
    const Bucket& bucket = old_->buckets[b];
    uint32_t moved = 0;
    for (uint32_t i = 0; i < kEntries; ++i) {
      const uint32_t entry = bucket.entries[i];
      if (entry == 0) continue;
      ++moved;
      const uint32_t number = entry & old_->RowMask();
      if (now_.base == old_->base && (bucket.marks & (kDisplaced << i)) == 0) {
        now_.Put(2 * b + (entry >> 31), (entry & ~old_->RowMask()) << 1 | number);
      } else {
        const uint64_t hash = hash_of(number - 1);
        now_.Put(now_.HomeOf(hash), now_.Entry(hash, number - 1));
      }
    }
    if (old_->next_move == old_->size) old_ = nullptr;
    return moved;
  }

  struct Earlier : Array {
    explicit Earlier(Array&& array) : Array(std::move(array)) {}
    uint32_t next_move = 0;  // the bucket that is moved next
  };

  Array now_;
  std::unique_ptr<Earlier> old_;  // while its entries are being moved
  uint32_t rows_ = 0;
  uint8_t base_;
  uint8_t most_moved_ = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_ROW_INDEX_H_
