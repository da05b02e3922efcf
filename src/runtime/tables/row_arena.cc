#include "runtime/tables/row_arena.h"

#include <algorithm>
#include <utility>

#include "core/memory/block_pool.h"

namespace tensorbraid {
namespace {

constexpr size_t kLine = 64, kMostBlock = size_t{2} << 20;
constexpr size_t kLarge = size_t{1} << 20;  // blocks that threads make at the same time

size_t UpTo(size_t size, size_t multiple) { return (size + multiple - 1) / multiple * multiple; }

}  // namespace

RowArena::~RowArena() {
  for (const Block& block : blocks_) BlockPool::Global().Free(block.data, block.size);
}

void* RowArena::Take(size_t size) {
  while (!open_.empty()) {
    Block& open = open_.back();
    if (open.size >= size) {
      open.size -= size;
      return std::exchange(open.data, open.data + size);
    }
    open_.pop_back();
  }
  return nullptr;
}

void RowArena::Add(Block block) {
  blocks_.push_back(block);
  open_.push_back(block);
}

void* RowArena::Allocate(size_t size) {
  size = UpTo(size, kLine);
  Block block;
  {
    MutexLock lock(mu_);
    if (void* const taken = Take(size)) return taken;
    block.size = UpTo(std::max({size, size_t{1}, std::min(kMostBlock, bytes_ / 8)}), BlockPool::kUnit);
    if (block.size < kLarge) {
      block.data = static_cast<char*>(BlockPool::Global().Allocate(block.size));
      if (block.data == nullptr) return nullptr;
      bytes_ += block.size;
      Add(block);
      return Take(size);
    }
    bytes_ += block.size;
  }
  // The system may take milliseconds to provide the pages, in which other threads go on.
  block.data = static_cast<char*>(BlockPool::Global().Allocate(block.size));
  if (block.data != nullptr) BlockPool::Prepare(block.data, block.size);
  MutexLock lock(mu_);
  if (block.data == nullptr) {
    bytes_ -= block.size;
    return nullptr;
  }
  Add(block);
  return Take(size);
}

int64_t RowArena::bytes() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(bytes_);
}

}  // namespace tensorbraid
