// The index of a small table: finds the number of a key's row. It grows a few entries at a time.
#ifndef TENSORBRAID_RUNTIME_TABLES_ROW_INDEX_H_
#define TENSORBRAID_RUNTIME_TABLES_ROW_INDEX_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tensorbraid {

// A hash of a key; every bit of the key changes half of the bits.
inline uint64_t KeyHash(int64_t key) {
  auto x = static_cast<uint64_t>(key);
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

// A hash table with open addressing that holds row numbers and no keys: the owner of the rows compares the keys. An
// entry has 32 bits: the row number + 1 in as many bits as the size of the array needs, and above them bits of the
// hash. So hardly any other row than the right one has to be compared. A full array is replaced by one that is half as
// large again, and each later insertion moves the entries of a few slots. Not thread-safe.
class RowIndex {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kMostSlots = (uint32_t{1} << 31) - 1;
  // An insertion looks at so many slots of the array that it empties, so it moves at most as many entries.
  static constexpr uint32_t kMostMoves = 16;

  // `first_size` is the number of slots of the first array. Indices that grow at the same time should differ in it, so
  // that their arrays fill up at different moments. REQUIRES: first_size >= 16.
  explicit RowIndex(uint32_t first_size) : first_size_(first_size) {}

  // Begins to load the slots at which the search for this hash begins.
  void Prefetch(uint64_t hash) const {
    if (now_.size != 0) __builtin_prefetch(now_.slots.get() + now_.Start(hash));
    if (old_.size != 0) __builtin_prefetch(old_.slots.get() + old_.Start(hash));
  }

  // A row that probably has this hash, or kNone if no row has it.
  uint32_t Candidate(uint64_t hash) const {
    return Find(hash, [](uint32_t) { return true; });
  }

  // The row with this hash for which is_row(number) holds, or kNone.
  template <typename IsRow>
  uint32_t Find(uint64_t hash, const IsRow& is_row) const {
    const uint32_t row = now_.Find(hash, is_row);
    return row != kNone || old_.size == 0 ? row : old_.Find(hash, is_row);
  }

  // Adds row number rows(), which has this hash. hash_of(row) is the hash of a row that was added before. Returns false
  // and adds nothing if there is no memory, or if the array would exceed kMostSlots. REQUIRES: the key has no row.
  template <typename HashOf>
  bool Insert(uint64_t hash, const HashOf& hash_of) {
    moved_ = 0;
    if (old_.size != 0) MoveSome(hash_of);
    if (rows_ == now_.Limit() && !Grow()) return false;
    now_.Put(hash, rows_++);
    most_moved_ = std::max(most_moved_, moved_);
    return true;
  }

  uint32_t rows() const { return rows_; }
  // The most entries that one insertion has moved.
  uint32_t most_moved() const { return most_moved_; }
  int64_t bytes() const { return int64_t{4} * (int64_t{now_.size} + old_.size); }

 private:
  struct Free {
    void operator()(uint32_t* slots) const { std::free(slots); }
  };
  struct Array {
    uint32_t size = 0;  // slots
    int row_bits = 0;   // the low bits of an entry that hold the row number + 1
    std::unique_ptr<uint32_t[], Free> slots;

    uint32_t Limit() const { return size - size / 8; }  // of the number of entries
    uint32_t Start(uint64_t hash) const { return static_cast<uint32_t>((hash >> 32) * size >> 32); }
    uint32_t Next(uint32_t slot) const { return slot + 1 == size ? 0 : slot + 1; }
    uint32_t RowOf(uint32_t entry) const { return static_cast<uint32_t>(entry & ((uint64_t{1} << row_bits) - 1)) - 1; }

    template <typename IsRow>
    uint32_t Find(uint64_t hash, const IsRow& is_row) const {
      if (size == 0) return kNone;
      const auto low = static_cast<uint32_t>(hash);
      for (uint32_t slot = Start(hash); slots[slot] != 0; slot = Next(slot)) {
        if (uint64_t{slots[slot] ^ low} >> row_bits != 0) continue;
        const uint32_t row = RowOf(slots[slot]);
        if (is_row(row)) return row;
      }
      return kNone;
    }
    void Put(uint64_t hash, uint32_t row) {
      uint32_t slot = Start(hash);
      while (slots[slot] != 0) slot = Next(slot);
      const uint64_t tag = static_cast<uint32_t>(hash) >> row_bits;
      slots[slot] = static_cast<uint32_t>(tag << row_bits) | (row + 1);
    }
  };

  // An array is half as large again as the one before, and an insertion empties kMostMoves slots. So `old_` is empty
  // long before `now_` is full.
  bool Grow() {
    Array grown;
    grown.size = now_.size == 0 ? first_size_ : now_.size + now_.size / 2;
    if (grown.size > kMostSlots) return false;
    grown.row_bits = std::bit_width(grown.size);
    grown.slots.reset(static_cast<uint32_t*>(std::calloc(grown.size, sizeof(uint32_t))));
    if (grown.slots == nullptr) return false;
    old_ = std::move(now_);
    now_ = std::move(grown);
    next_move_ = 0;
    return true;
  }

  // The entries stay in the old array until all have been moved, so that searches find them there.
  template <typename HashOf>
  void MoveSome(const HashOf& hash_of) {
    const uint32_t end = std::min(old_.size, next_move_ + kMostMoves);
    for (; next_move_ < end; ++next_move_) {
      if (old_.slots[next_move_] == 0) continue;
      const uint32_t row = old_.RowOf(old_.slots[next_move_]);
      now_.Put(hash_of(row), row);
      ++moved_;
    }
    if (next_move_ == old_.size) old_ = Array();
  }

  uint32_t first_size_;
  uint32_t rows_ = 0;
  uint32_t next_move_ = 0;  // the slot of `old_` that is moved next
  uint32_t moved_ = 0, most_moved_ = 0;
  Array now_, old_;  // `old_` has slots while its entries are being moved
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_ROW_INDEX_H_
