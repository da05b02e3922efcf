// Free blocks of memory that one thread keeps for itself.
#ifndef TENSORBRAID_CORE_MEMORY_THREAD_CACHE_H_
#define TENSORBRAID_CORE_MEMORY_THREAD_CACHE_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "core/memory/size_class.h"

namespace tensorbraid {

// A step of many small ops allocates and frees thousands of small blocks. If each took the lock of a free list that all
// threads share, two threads would spend a third of their time with that lock. Each thread therefore keeps a few free
// blocks of each size class. Only that thread may call the functions, except bytes().
class ThreadCache {
 public:
  // Blocks of larger classes are not kept.
  static constexpr int kLargestClass = SizeClass(size_t{64} << 10);

  // Returns a block of class `c`, or null if there is none.
  void* Pop(int c) {
    List& list = lists_[c];
    FreeBlock* const block = list.head;
    if (block == nullptr) return nullptr;
    list.head = block->next;
    --list.count;
    AddBytes(-static_cast<int64_t>(SizeOfClass(c)));
    return block;
  }
  // Keeps the block. Returns false, and does not keep it, if there are enough blocks of this class.
  bool Push(void* p, int c) {
    List& list = lists_[c];
    if (list.count >= MostBlocks(c)) return false;
    list.head = new (p) FreeBlock{list.head};
    ++list.count;
    AddBytes(static_cast<int64_t>(SizeOfClass(c)));
    return true;
  }
  // How many blocks of class `c` move at once between the cache and the shared list.
  static int BatchSize(int c) { return MostBlocks(c) / 2; }
  static constexpr int kLargestBatch = 32;
  // All blocks together. May be called by any thread.
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Whether the cache should be emptied: the thread may have stopped using the sizes that it holds.
  bool full() const { return bytes() >= kMostBytes; }

  // The caches of all threads form a list, which the allocator guards.
  ThreadCache* next = nullptr;

 private:
  static constexpr int64_t kMostBytes = int64_t{512} << 10;
  struct FreeBlock {
    FreeBlock* next;
  };
  struct List {
    FreeBlock* head = nullptr;
    int count = 0;
  };

  static int MostBlocks(int c) {
    constexpr size_t kMostBytesOfClass = size_t{128} << 10;
    return static_cast<int>(std::min<size_t>(2 * kLargestBatch, kMostBytesOfClass / SizeOfClass(c)));
  }
  void AddBytes(int64_t bytes) { bytes_.store(this->bytes() + bytes, std::memory_order_relaxed); }

  std::array<List, kLargestClass + 1> lists_;
  std::atomic<int64_t> bytes_{0};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_MEMORY_THREAD_CACHE_H_
