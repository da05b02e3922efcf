#include "runtime/tables/row_arena.h"

#include <algorithm>

#include "core/memory/block_pool.h"

namespace tensorbraid {
namespace {

constexpr size_t kLine = 64, kMostBlock = size_t{2} << 20;

size_t UpTo(size_t size, size_t multiple) { return (size + multiple - 1) / multiple * multiple; }

}  // namespace

RowArena::~RowArena() {
  for (const Block& block : blocks_) BlockPool::Global().Free(block.data, block.size);
}

void* RowArena::Allocate(size_t size) {
  size = UpTo(size, kLine);
  MutexLock lock(mu_);
  if (blocks_.empty() || blocks_.back().size - used_ < size) {
    const size_t block = UpTo(std::max({size, size_t{1}, std::min(kMostBlock, bytes_ / 8)}), BlockPool::kUnit);
    auto* const data = static_cast<char*>(BlockPool::Global().Allocate(block));
    if (data == nullptr) return nullptr;
    blocks_.push_back({data, block});
    bytes_ += block;
    used_ = 0;
  }
  void* const result = blocks_.back().data + used_;
  used_ += size;
  return result;
}

int64_t RowArena::bytes() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(bytes_);
}

}  // namespace tensorbraid
