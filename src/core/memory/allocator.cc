#include "core/memory/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "core/memory/size_class.h"
#include "core/memory/thread_cache.h"
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
  AllocatorStats stats() const override;

  // Returns a block of size class `c`, or null if there is not enough memory.
  void* AllocateBlock(int c) {
    ThreadCache* const cache = CacheOfThisThread(c);
    if (cache == nullptr) return Take(c, nullptr);
    if (void* p = cache->Pop(c)) return p;
    void* p = Take(c, cache);
    if (p == nullptr) {
      Empty(*cache);
      p = Take(c, nullptr);
    }
    return p;
  }

  void Free(void* p, int c) {
    ThreadCache* const cache = CacheOfThisThread(c);
    if (cache == nullptr) return Return({&p, 1}, c);
    if (cache->full()) Empty(*cache);
    if (cache->Push(p, c)) return;
    // The thread frees more than it allocates, so it gives a few more blocks back with this one.
    std::array<void*, ThreadCache::kLargestBatch + 1> blocks = {p};
    size_t n = 1;
    for (int i = 0; i < ThreadCache::BatchSize(c); ++i) blocks[n++] = cache->Pop(c);
    Return(std::span(blocks).first(n), c);
  }

  // Adds the cache of a thread, or removes it with all its blocks.
  void Add(ThreadCache* cache) {
    MutexLock lock(thread_caches_mu_);
    cache->next = std::exchange(thread_caches_, cache);
  }
  void Remove(ThreadCache* cache) {
    Empty(*cache);
    MutexLock lock(thread_caches_mu_);
    ThreadCache** at = &thread_caches_;
    while (*at != cache) at = &(*at)->next;
    *at = cache->next;
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

  static ThreadCache* CacheOfThisThread(int c);

  // Takes a block from the shared list or from the system. A few more blocks of the list go to `cache`, unless it is
  // null. Returns null if there is not enough memory.
  void* Take(int c, ThreadCache* cache) {
    FreeList& list = lists_[c];
    const auto size = static_cast<int64_t>(SizeOfClass(c));
    if (!Count(size)) return nullptr;
    {
      MutexLock lock(list.mu);
      if (!list.blocks.empty()) {
        void* p = list.blocks.back();
        list.blocks.pop_back();
        int64_t taken = 1;
        for (int i = 0; cache != nullptr && i < ThreadCache::BatchSize(c) && !list.blocks.empty(); ++i, ++taken) {
          if (!cache->Push(list.blocks.back(), c)) break;
          list.blocks.pop_back();
        }
        if (taken > 1) in_use_.fetch_add((taken - 1) * size, std::memory_order_relaxed);
        cached_.fetch_sub(taken * size, std::memory_order_relaxed);
        return p;
      }
    }
    // Free the cached blocks if they and the new block together would pass the limit.
    if (cached_.load(std::memory_order_relaxed) >
        limit_.load(std::memory_order_relaxed) - in_use_.load(std::memory_order_relaxed)) {
      ReleaseCached();
    }
    if (size > largest_.load(std::memory_order_relaxed)) largest_.store(size, std::memory_order_relaxed);
    void* p = NewBlock(static_cast<size_t>(size));
    if (p == nullptr) Uncount(size);
    return p;
  }

  // Puts blocks into the shared list, or frees them if it has enough.
  void Return(std::span<void* const> blocks, int c) {
    const auto bytes = static_cast<int64_t>(SizeOfClass(c) * blocks.size());
    in_use_.fetch_sub(bytes, std::memory_order_relaxed);
    const int64_t share_of_limit = limit_.load(std::memory_order_relaxed) / 8;
    const int64_t max_cached =
        std::max<int64_t>(int64_t{256} << 20, std::min(4 * largest_.load(std::memory_order_relaxed), share_of_limit));
    if (cached_.fetch_add(bytes, std::memory_order_relaxed) + bytes > max_cached) {
      cached_.fetch_sub(bytes, std::memory_order_relaxed);
      for (void* p : blocks) std::free(p);
      return;
    }
    FreeList& list = lists_[c];
    MutexLock lock(list.mu);
    list.blocks.insert(list.blocks.end(), blocks.begin(), blocks.end());
  }

  void Empty(ThreadCache& cache) {
    for (int c = 0; c <= ThreadCache::kLargestClass; ++c) {
      std::array<void*, 2 * ThreadCache::kLargestBatch> blocks;
      size_t n = 0;
      while (void* p = cache.Pop(c)) blocks[n++] = p;
      if (n > 0) Return(std::span(blocks).first(n), c);
    }
  }

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
  // Blocks in the caches of threads count as in use, because nobody else can use them. stats() knows better.
  std::atomic<int64_t> in_use_{0};
  std::atomic<int64_t> cached_{0};
  std::atomic<int64_t> largest_{0};
  std::atomic<int64_t> limit_{MemoryOfProcess()};
  mutable Mutex thread_caches_mu_;
  ThreadCache* thread_caches_ TB_GUARDED_BY(thread_caches_mu_) = nullptr;
};

AllocatorStats CachingAllocator::stats() const {
  int64_t of_threads = 0;
  MutexLock lock(thread_caches_mu_);
  for (const ThreadCache* cache = thread_caches_; cache != nullptr; cache = cache->next) of_threads += cache->bytes();
  return {in_use_.load() - of_threads, cached_.load() + of_threads};
}

// Never destroyed, because static objects may hold tensors until the program's very end.
CachingAllocator& TheAllocator() {
  static auto* allocator = new CachingAllocator;
  return *allocator;
}

}  // namespace

// The cache of this thread; null before its first block and after the thread's end. Not in the anonymous namespace: the
// linker gold gives all local variables of this model the place of the library's first thread_local variable.
constinit thread_local ThreadCache* this_threads_cache __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constinit thread_local bool this_thread_ends = false;

// Makes the cache of this thread, which lasts until the thread's end. Returns null if the thread ends already: the
// destructors of other thread_local objects may still use tensors.
ThreadCache* NewCacheOfThisThread() {
  // The cache is not itself thread_local: a library that Python loads has little room for such objects.
  struct Owner {
    const std::unique_ptr<ThreadCache> cache = std::make_unique<ThreadCache>();
    Owner() { TheAllocator().Add(cache.get()); }
    ~Owner() {
      this_thread_ends = true;
      this_threads_cache = nullptr;
      TheAllocator().Remove(cache.get());
    }
  };
  if (this_thread_ends) return nullptr;
  static thread_local const Owner owner;
  return this_threads_cache = owner.cache.get();
}

ThreadCache* CachingAllocator::CacheOfThisThread(int c) {
  // A simulation runs its threads in an order that follows from their locks. It must be the same in each run, whatever
  // was freed before.
  if (c > ThreadCache::kLargestClass || lock_scheduler != nullptr) return nullptr;
  if (this_threads_cache != nullptr) [[likely]]
    return this_threads_cache;
  return NewCacheOfThisThread();
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
