// Memory for the rows of a small table, which never move.
#ifndef TENSORBRAID_RUNTIME_TABLES_ROW_CHUNKS_H_
#define TENSORBRAID_RUNTIME_TABLES_ROW_CHUNKS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/tables/row_arena.h"

namespace tensorbraid {

// Where a row is: its chunk, and its number in this chunk. The same in all RowChunks. The first chunks are small,
// because many small tables have few rows: 4, 8, 16 and 32 rows; all others have 64.
struct RowPlace {
  static constexpr uint32_t kFirst = 4, kFull = 64, kFullFrom = 4;
  static constexpr uint32_t kBeforeFull = kFirst * ((1 << kFullFrom) - 1);  // rows

  explicit RowPlace(uint32_t row) {
    if (row >= kBeforeFull) {
      chunk = kFullFrom + (row - kBeforeFull) / kFull;
      offset = (row - kBeforeFull) % kFull;
    } else {
      chunk = static_cast<uint32_t>(std::bit_width(row / kFirst + 1)) - 1;
      offset = row - kFirst * ((1 << chunk) - 1);
    }
  }
  static uint32_t RowsIn(uint32_t chunk) { return chunk >= kFullFrom ? kFull : kFirst << chunk; }

  uint32_t chunk;
  uint32_t offset;
};

// Rows of `stride` bytes, in chunks that begin on a line of the cache. The owner knows the stride and passes the same
// one in every call. The first chunks are found without a list. Not thread-safe.
class RowChunks {
 public:
  char* At(RowPlace place, size_t stride) const { return Chunk(place.chunk) + place.offset * stride; }
  // The address of what At reads besides this object; null if it reads nothing else.
  const void* EntryOf(RowPlace place) const { return place.chunk < kInline ? nullptr : &more_[place.chunk - kInline]; }
  // Whether there is a chunk. Reads what At reads.
  bool Has(uint32_t chunk) const { return chunk < kInline ? first_[chunk] != nullptr : chunk < chunks_; }
  uint32_t chunks() const { return chunks_; }
  // Adds a chunk, whose rows have no values yet. Returns false if there is no memory.
  bool AddChunk(size_t stride, RowArena& arena);
  // The rows for which there are chunks.
  int64_t rows() const;
  // Of all chunks and the list.
  int64_t bytes(size_t stride) const {
    return rows() * static_cast<int64_t>(stride) + int64_t{capacity_} * static_cast<int64_t>(sizeof(char*));
  }

 private:
  static constexpr uint32_t kInline = 5;
  char* Chunk(uint32_t chunk) const { return chunk < kInline ? first_[chunk] : more_[chunk - kInline]; }

  std::unique_ptr<char*[]> more_;
  uint32_t capacity_ = 0;  // of `more_`
  uint32_t chunks_ = 0;
  std::array<char*, kInline> first_{};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_ROW_CHUNKS_H_
