#include "core/memory/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>
#include <vector>

#include "core/memory/size_class.h"
#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

// Returns null when the system is out of memory. Large blocks request huge pages: a parameter server streams through,
// say, 100 MB in every step, and huge pages save it most of the page faults and TLB misses. The request has no effect
// if transparent huge pages are set to "never" in the system.
void* NewBlock(size_t size) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t alignment = size < kHugePage ? kTensorAlignment : kHugePage;
  void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p != nullptr && alignment == kHugePage) madvise(p, size, MADV_HUGEPAGE);
  return p;
}

// The memory of the machine in bytes, or of this process's control group if that has less.
int64_t MemoryOfProcess() {
  int64_t bytes = std::numeric_limits<int64_t>::max();
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) bytes = pages * page;
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t limit = 0;
    if (std::ifstream(path) >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

class CachingAllocator final : public Allocator {
 public:
  std::string_view name() const override { return "host"; }
  MemorySpace space() const override { return MemorySpace::kHost; }
  RefPtr<Buffer> Allocate(size_t size) override;
  AllocatorStats stats() const override { return {in_use_.load(), cached_.load()}; }

  // Returns a block of size class `c`, or null if there is not enough memory.
  void* AllocateBlock(int c) {
    FreeList& list = lists_[c];
    const size_t size = SizeOfClass(c);
    if (!Count(static_cast<int64_t>(size))) return nullptr;
    {
      MutexLock lock(list.mu);
      if (!list.blocks.empty()) {
        void* p = list.blocks.back();
        list.blocks.pop_back();
        cached_.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
        return p;
      }
    }
    // Free the cached blocks if they and the new block together would pass the limit.
    if (cached_.load(std::memory_order_relaxed) >
        limit_.load(std::memory_order_relaxed) - in_use_.load(std::memory_order_relaxed)) {
      ReleaseCached();
    }
    if (static_cast<int64_t>(size) > largest_.load(std::memory_order_relaxed)) {
      largest_.store(static_cast<int64_t>(size), std::memory_order_relaxed);
    }
    void* p = NewBlock(size);
    if (p == nullptr) in_use_.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
    return p;
  }

  void Free(void* p, int c) {
    const auto size = static_cast<int64_t>(SizeOfClass(c));
    in_use_.fetch_sub(size, std::memory_order_relaxed);
    const int64_t share_of_limit = limit_.load(std::memory_order_relaxed) / 8;
    const int64_t max_cached =
        std::max<int64_t>(int64_t{256} << 20, std::min(4 * largest_.load(std::memory_order_relaxed), share_of_limit));
    if (cached_.fetch_add(size, std::memory_order_relaxed) + size > max_cached) {
      cached_.fetch_sub(size, std::memory_order_relaxed);
      std::free(p);
      return;
    }
    FreeList& list = lists_[c];
    MutexLock lock(list.mu);
    list.blocks.push_back(p);
  }

  bool Count(int64_t bytes) {
    if (in_use_.fetch_add(bytes, std::memory_order_relaxed) <= limit_.load(std::memory_order_relaxed) - bytes) {
      return true;
    }
    Uncount(bytes);
    return false;
  }
  void Uncount(int64_t bytes) { in_use_.fetch_sub(bytes, std::memory_order_relaxed); }
  void set_limit(int64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }

 private:
  struct FreeList {
    Mutex mu;
    std::vector<void*> blocks TB_GUARDED_BY(mu);
  };

  void ReleaseCached() {
    for (int c = 0; c < kNumSizeClasses; ++c) {
      std::vector<void*> blocks;
      {
        MutexLock lock(lists_[c].mu);
        blocks.swap(lists_[c].blocks);
      }
      for (void* p : blocks) std::free(p);
      cached_.fetch_sub(static_cast<int64_t>(SizeOfClass(c) * blocks.size()), std::memory_order_relaxed);
    }
  }

  std::array<FreeList, kNumSizeClasses> lists_;
  std::atomic<int64_t> in_use_{0};
  std::atomic<int64_t> cached_{0};
  std::atomic<int64_t> largest_{0};
  std::atomic<int64_t> limit_{MemoryOfProcess()};
};

// Never destroyed, because static objects may hold tensors until the program's very end.
CachingAllocator& TheAllocator() {
  static auto* allocator = new CachingAllocator;
  return *allocator;
}

// The buffer object is stored in front of its bytes, in the same block, so that a tensor takes one allocation.
class PooledBuffer final : public Buffer {
 public:
  static constexpr size_t kHeader = kTensorAlignment;
  PooledBuffer(void* data, size_t size, int size_class, const Allocator* allocator)
      : Buffer(data, size, {.allocator = allocator}), size_class_(size_class) {}
  static void operator delete(PooledBuffer* self, std::destroying_delete_t) {
    const int c = self->size_class_;
    self->~PooledBuffer();
    TheAllocator().Free(self, c);
  }

 private:
  const int size_class_;
};
static_assert(sizeof(PooledBuffer) <= PooledBuffer::kHeader);

RefPtr<Buffer> CachingAllocator::Allocate(size_t size) {
  if (size > (size_t{1} << 46)) return nullptr;  // more than any machine has, but within the size classes
  const int c = SizeClass(size + PooledBuffer::kHeader);
  void* block = AllocateBlock(c);
  if (block == nullptr) return nullptr;
  return RefPtr<Buffer>::Adopt(new (block)
                                   PooledBuffer(static_cast<char*>(block) + PooledBuffer::kHeader, size, c, this));
}

}  // namespace

Allocator& HostAllocator() { return TheAllocator(); }
RefPtr<Buffer> AllocateBuffer(size_t size) { return TheAllocator().Allocate(size); }

void SetAllocatorLimit(int64_t bytes) { TheAllocator().set_limit(bytes); }
bool CountMemory(int64_t bytes) { return TheAllocator().Count(bytes); }
void UncountMemory(int64_t bytes) { TheAllocator().Uncount(bytes); }

AllocatorStats GetAllocatorStats() { return TheAllocator().stats(); }

}  // namespace tensorbraid
