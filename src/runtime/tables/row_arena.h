// The memory of a growing table's rows.
#ifndef TENSORBRAID_RUNTIME_TABLES_ROW_ARENA_H_
#define TENSORBRAID_RUNTIME_TABLES_ROW_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/threads/mutex.h"

namespace tensorbraid {

// Hands out memory from blocks of the process's BlockPool, which are freed with the arena. Blocks are an eighth of what
// the arena has, from 64 KB to 2 MB, so that a small table takes little, and a large one wastes little. Threads that
// need large blocks at the same time get one each, so that they wait for their pages side by side. Thread-safe.
class RowArena {
 public:
  RowArena() = default;
  ~RowArena();
  RowArena(const RowArena&) = delete;
  RowArena& operator=(const RowArena&) = delete;

  // Returns `size` bytes that begin on a line of the cache, or null if there is no memory.
  void* Allocate(size_t size);
  // What the blocks take.
  int64_t bytes() const;

 private:
  struct Block {
    char* data = nullptr;
    size_t size = 0;
  };
  // Hands out a part of an open block; null if it is not large enough.
  void* Take(size_t size) TB_REQUIRES(mu_);
  void Add(Block block) TB_REQUIRES(mu_);

  mutable Mutex mu_;
  std::vector<Block> blocks_ TB_GUARDED_BY(mu_);
  std::vector<Block> open_ TB_GUARDED_BY(mu_);  // the ends of blocks that are not handed out; the last is used first
  size_t bytes_ TB_GUARDED_BY(mu_) = 0;         // of blocks, also those that are being made
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_ROW_ARENA_H_
