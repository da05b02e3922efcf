// Memory for the rows of a small table, which never move.
#ifndef TENSORBRAID_RUNTIME_TABLES_ROW_CHUNKS_H_
#define TENSORBRAID_RUNTIME_TABLES_ROW_CHUNKS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace tensorbraid {

// Where a row is: its chunk, and its number in this chunk. The same in all RowChunks. The first chunks are small,
// because many small tables have few rows: 4, 4, 8, 16, 32 and 64 rows; all others have 128.
struct RowPlace {
  static constexpr uint32_t kFirst = 4, kFull = 128, kFullFrom = 6;

  explicit RowPlace(uint32_t row) {
    if (row >= kFull) {
      chunk = kFullFrom - 1 + row / kFull;
      offset = row % kFull;
    } else {
      chunk = static_cast<uint32_t>(std::bit_width(row / kFirst));
      offset = chunk == 0 ? row : row - (kFirst << (chunk - 1));
    }
  }
  static uint32_t RowsIn(uint32_t chunk) {
    return chunk >= kFullFrom ? kFull : chunk == 0 ? kFirst : kFirst << (chunk - 1);
  }

  uint32_t chunk;
  uint32_t offset;
};

// Rows of `width` elements of a plain type T, in chunks that begin on a line of the cache. The owner knows the width
// and passes the same one in every call. Not thread-safe.
template <typename T>
class RowChunks {
 public:
  T* At(RowPlace place, size_t width) const { return chunks_[place.chunk].get() + place.offset * width; }
  // Begins to load what At needs: first the list of chunks, then the entry of a chunk.
  void PrefetchList() const { __builtin_prefetch(chunks_.data()); }
  void PrefetchEntry(RowPlace place) const { __builtin_prefetch(chunks_.data() + place.chunk); }
  uint32_t chunks() const { return static_cast<uint32_t>(chunks_.size()); }
  // Adds a chunk, whose elements have no values yet. Returns false if there is no memory.
  bool AddChunk(size_t width) {
    void* memory = std::aligned_alloc(kLine, Bytes(chunks(), width));
    if (memory == nullptr) return false;
    chunks_.emplace_back(static_cast<T*>(memory));
    return true;
  }
  void RemoveLastChunk() { chunks_.pop_back(); }
  int64_t bytes(size_t width) const {
    int64_t sum = static_cast<int64_t>(chunks_.capacity() * sizeof(chunks_[0]));
    for (uint32_t chunk = 0; chunk < chunks(); ++chunk) sum += static_cast<int64_t>(Bytes(chunk, width));
    return sum;
  }

 private:
  static constexpr size_t kLine = 64;
  static size_t Bytes(uint32_t chunk, size_t width) {
    return (RowPlace::RowsIn(chunk) * width * sizeof(T) + kLine - 1) / kLine * kLine;
  }
  struct Free {
    void operator()(T* chunk) const { std::free(chunk); }
  };
  std::vector<std::unique_ptr<T, Free>> chunks_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_ROW_CHUNKS_H_
