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
  ~RowIndex() {
    now().Free();
    earlier().Free();
  }
  RowIndex(RowIndex&& other) noexcept
      : buckets_(std::exchange(other.buckets_, nullptr)),
        earlier_(std::exchange(other.earlier_, nullptr)),
        first_base_(other.first_base_),
        doublings_(other.doublings_),
        row_bits_(other.row_bits_),
        base_(other.base_) {}
  RowIndex& operator=(RowIndex&&) = delete;

  // What searches do not need. It is not in the index, so that its owner can keep it in another line of the cache.
  struct Progress {
    uint32_t rows = 0;
    uint32_t next_move = 0;  // the bucket of the earlier array that is moved next
    uint8_t most_moved = 0;  // the most entries that one insertion has moved
  };

  // Calls visit(address) for the buckets at which the search for this hash begins.
  template <typename Visit>
  void VisitBuckets(uint64_t hash, const Visit& visit) const {
    if (buckets_ != nullptr) visit(&buckets_[now().HomeOf(hash)]);
    if (earlier_ != nullptr) visit(&earlier_[earlier().HomeOf(hash)]);
  }
  // Begins to load the buckets that an insertion moves.
  void PrefetchMove(const Progress& progress) const {
    if (earlier_ == nullptr) return;
    const uint32_t next = progress.next_move;
    __builtin_prefetch(&earlier_[next]);
    for (uint32_t b : {2 * next, 2 * next + 1}) __builtin_prefetch(&buckets_[b], 1);
  }

  // A row that probably has this hash, or kNone if no row has it.
  uint32_t Candidate(uint64_t hash) const {
    return Find(hash, [](uint32_t) { return true; });
  }

  // The row with this hash for which is_row(number) holds, or kNone.
  template <typename IsRow>
  uint32_t Find(uint64_t hash, const IsRow& is_row) const {
    const uint32_t row = now().Find(hash, is_row);
    return row != kNone || earlier_ == nullptr ? row : earlier().Find(hash, is_row);
  }

  // Adds a row, which has this hash. Memory comes from the arena, which outlives the index. hash_of(row) is the hash of
  // a row that was added before. Returns false and adds nothing if there is no memory, or if there would be more than
  // 2^30 rows. REQUIRES: the key has no row; `row` is at most the number of rows that there have been at the same time.
  template <typename HashOf>
  bool Insert(uint64_t hash, uint32_t row, RowArena& arena, const HashOf& hash_of, Progress& progress) {
    uint32_t moved = 0;
    if (earlier_ != nullptr) moved = MoveBucket(hash_of, progress);
    if (progress.rows == now().Limit() && !Grow(arena, progress)) return false;
    const Array array = now();
    array.Put(array.HomeOf(hash), array.Entry(hash, row));
    ++progress.rows;
    progress.most_moved = static_cast<uint8_t>(std::max<uint32_t>(progress.most_moved, moved));
    return true;
  }

  // Removes a row, which has this hash. REQUIRES: it was added.
  void Erase(uint64_t hash, uint32_t row, Progress& progress) {
    now().Erase(hash, row);
    if (earlier_ != nullptr) earlier().Erase(hash, row);
    --progress.rows;
  }

  int64_t bytes() const {
    return static_cast<int64_t>(sizeof(Bucket)) *
           (int64_t{buckets_ == nullptr ? 0 : now().size()} + (earlier_ == nullptr ? 0 : earlier().size()));
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
    Bucket* buckets;
    uint8_t base, doublings;
    uint8_t row_bits;  // the low bits of an entry, which hold the row number + 1

    uint32_t size() const { return uint32_t{base} << doublings; }  // buckets
    size_t bytes() const { return size() * sizeof(Bucket); }
    // Makes the empty buckets. Returns false if there is no memory.
    bool Allocate(RowArena& arena) {
      buckets = static_cast<Bucket*>(bytes() > kMostOfArena ? std::aligned_alloc(alignof(Bucket), bytes())
                                                            : arena.Allocate(bytes()));
      if (buckets != nullptr) std::memset(static_cast<void*>(buckets), 0, bytes());
      return buckets != nullptr;
    }
    void Free() const {
      if (bytes() > kMostOfArena) std::free(buckets);
    }

    uint32_t Limit() const { return buckets == nullptr ? 0 : size() * kMostEntries; }  // of the number of entries
    uint32_t HomeOf(uint64_t hash) const { return static_cast<uint32_t>((hash >> 32) * base >> (32 - doublings)); }
    uint32_t Next(uint32_t bucket) const { return bucket + 1 == size() ? 0 : bucket + 1; }
    uint32_t RowMask() const { return (uint32_t{1} << row_bits) - 1; }
    uint32_t Bits(uint64_t hash) const { return static_cast<uint32_t>((hash >> 32) * base) << doublings; }
    uint32_t Entry(uint64_t hash, uint32_t row) const { return (Bits(hash) & ~RowMask()) | (row + 1); }

    // Calls visit(row, bucket, entry) for the entries that may have this hash, until it returns true.
    template <typename Visit>
    void Search(uint64_t hash, const Visit& visit) const {
      if (buckets == nullptr) return;
      const uint32_t bits = Bits(hash);
      uint32_t b = HomeOf(hash);
      for (uint32_t seen = 0; seen < size(); ++seen) {
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
    void Put(uint32_t home, uint32_t entry) const {
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
    void Erase(uint64_t hash, uint32_t row) const {
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

  static uint8_t RowBits(uint32_t base, uint32_t doublings) {
    return static_cast<uint8_t>(std::bit_width(base * kMostEntries) + static_cast<int>(doublings));
  }
  Array now() const { return {buckets_, first_base_, doublings_, row_bits_}; }
  // The array before, whose entries are being moved. It has no buckets if there is none.
  Array earlier() const {
    if (doublings_ == 0) return {earlier_, 1, 0, RowBits(1, 0)};
    return {earlier_, first_base_, static_cast<uint8_t>(doublings_ - 1), static_cast<uint8_t>(row_bits_ - 1)};
  }

  // An array is twice as large as the one before (the second has at most 16 buckets), and an insertion empties a
  // bucket. So the earlier array is empty long before this one is full.
  bool Grow(RowArena& arena, Progress& progress) {
    Array grown{.buckets = nullptr, .base = buckets_ == nullptr ? uint8_t{1} : base_, .doublings = 0, .row_bits = 0};
    if (buckets_ != nullptr && first_base_ == base_) grown.doublings = static_cast<uint8_t>(doublings_ + 1);
    grown.row_bits = RowBits(grown.base, grown.doublings);
    if (grown.row_bits > 30) return false;
    if (!grown.Allocate(arena)) return false;
    earlier_ = buckets_;
    buckets_ = grown.buckets;
    first_base_ = grown.base;
    doublings_ = grown.doublings;
    row_bits_ = grown.row_bits;
    progress.next_move = 0;
    return true;
  }

  // Copies the entries of a bucket of the earlier array, and returns their number. They stay there until all have been
  // copied, so that searches find them.
  template <typename HashOf>
  uint32_t MoveBucket(const HashOf& hash_of, Progress& progress) {
    const Array to = now(), from = earlier();
    const uint32_t b = progress.next_move++;
    const Bucket& bucket = from.buckets[b];
    uint32_t moved = 0;
    for (uint32_t i = 0; i < kEntries; ++i) {
      const uint32_t entry = bucket.entries[i];
      if (entry == 0) continue;
      ++moved;
      const uint32_t number = entry & from.RowMask();
      if (to.base == from.base && (bucket.marks & (kDisplaced << i)) == 0) {
        to.Put(2 * b + (entry >> 31), (entry & ~from.RowMask()) << 1 | number);
      } else {
        const uint64_t hash = hash_of(number - 1);
        to.Put(to.HomeOf(hash), to.Entry(hash, number - 1));
      }
    }
    if (progress.next_move == from.size()) {
      from.Free();
      earlier_ = nullptr;
    }
    return moved;
  }

  Bucket* buckets_ = nullptr;
  Bucket* earlier_ = nullptr;                              // the array before, while its entries are being moved
  uint8_t first_base_ = 1, doublings_ = 0, row_bits_ = 0;  // of the array
  uint8_t base_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_ROW_INDEX_H_
