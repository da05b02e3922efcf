#include "core/memory/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "core/memory/allocator.h"

namespace tensorbraid {
namespace {

constexpr size_t kRegionPage = size_t{2} << 20, kRegion = size_t{32} << 20;

}  // namespace

BlockPool& BlockPool::Global() {
  static auto* const pool = new BlockPool;  // never destroyed, because static objects may hold blocks until the end
  return *pool;
}

char* BlockPool::TakeFree(size_t size) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [begin, free] = *it;
    if (free < size) continue;
    free_.erase(it);
    if (free > size) free_[begin + size] = free - size;
    return begin;
  }
  return nullptr;
}

void* BlockPool::Allocate(size_t size) {
  if (!CountMemory(static_cast<int64_t>(size))) return nullptr;
  MutexLock lock(mu_);
  if (char* const block = TakeFree(size)) return block;
  const size_t region = (std::max(size, kRegion) + kRegionPage - 1) / kRegionPage * kRegionPage;
  auto* const data = static_cast<char*>(std::aligned_alloc(kRegionPage, region));
  if (data == nullptr) {
    UncountMemory(static_cast<int64_t>(size));
    return nullptr;
  }
  madvise(data, region, MADV_HUGEPAGE);
  regions_[data] = region;
  free_[data] = region;
  return TakeFree(size);
}

void BlockPool::Prepare(void* block, size_t size) {
#ifdef MADV_POPULATE_WRITE
  // Older systems refuse, and lose nothing.
  (void)madvise(block, size, MADV_POPULATE_WRITE);
#else
  static_cast<void>(block);
  static_cast<void>(size);
#endif
}

void BlockPool::Free(void* block, size_t size) {
  UncountMemory(static_cast<int64_t>(size));
  auto* begin = static_cast<char*>(block);
  MutexLock lock(mu_);
  const auto region = std::prev(regions_.upper_bound(begin));
  const auto after = free_.find(begin + size);
  if (after != free_.end() && after->first < region->first + region->second) {
    size += after->second;
    free_.erase(after);
  }
  const auto next = free_.upper_bound(begin);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first >= region->first && before->first + before->second == begin) {
      begin = before->first;
      size += before->second;
      free_.erase(before);
    }
  }
  if (size == region->second) {
    std::free(begin);
    regions_.erase(region);
  } else {
    free_[begin] = size;
  }
}

size_t BlockPool::bytes() const {
  MutexLock lock(mu_);
  size_t bytes = 0;
  for (const auto& [begin, size] : regions_) bytes += size;
  return bytes;
}

}  // namespace tensorbraid
