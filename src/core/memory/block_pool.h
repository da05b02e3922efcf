// Memory for data that grows without end, in huge pages.
#ifndef TENSORBRAID_CORE_MEMORY_BLOCK_POOL_H_
#define TENSORBRAID_CORE_MEMORY_BLOCK_POOL_H_

#include <cstddef>
#include <map>

#include "core/threads/mutex.h"

namespace tensorbraid {

// Hands out blocks of large regions that request huge pages. So data that is far apart shares entries of the TLB, also
// if its owners have few blocks each. Blocks count for the limit of the allocator (core/memory/allocator.h). A region
// without blocks is returned to the system. Thread-safe.
class BlockPool {
 public:
  static constexpr size_t kUnit = size_t{64} << 10;
  // The pool of this process.
  static BlockPool& Global();

  // Returns `size` bytes, or null if there is no memory. REQUIRES: `size` is a multiple of kUnit, and not 0.
  void* Allocate(size_t size);
  // Lets the system provide all pages of a block at once. Pages that are not prepared are provided when they are first
  // used, one by one.
  static void Prepare(void* block, size_t size);
  // Takes back what Allocate(size) returned.
  void Free(void* block, size_t size);
  // The bytes of all regions.
  size_t bytes() const;

 private:
  char* TakeFree(size_t size) TB_REQUIRES(mu_);

  mutable Mutex mu_;
  std::map<char*, size_t> regions_ TB_GUARDED_BY(mu_);
  std::map<char*, size_t> free_ TB_GUARDED_BY(mu_);  // free ranges; neighbours in a region are joined
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_MEMORY_BLOCK_POOL_H_
