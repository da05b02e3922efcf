#include "runtime/tables/row_chunks.h"

#include <new>

namespace tensorbraid {

bool RowChunks::AddChunk(size_t stride, RowArena& arena) {
  if (chunks_ >= kInline && chunks_ - kInline == capacity_) {
    const uint32_t capacity = std::max<uint32_t>(8, capacity_ + capacity_ / 2);
    std::unique_ptr<char*[]> more(new (std::nothrow) char*[capacity]);
    if (more == nullptr) return false;
    std::copy_n(more_.get(), capacity_, more.get());
    more_ = std::move(more);
    capacity_ = capacity;
  }
  auto* const chunk = static_cast<char*>(arena.Allocate(RowPlace::RowsIn(chunks_) * stride));
  if (chunk == nullptr) return false;
  (chunks_ < kInline ? first_[chunks_] : more_[chunks_ - kInline]) = chunk;
  ++chunks_;
  return true;
}

int64_t RowChunks::rows() const {
  int64_t rows = 0;
  for (uint32_t chunk = 0; chunk < chunks_; ++chunk) rows += RowPlace::RowsIn(chunk);
  return rows;
}

}  // namespace tensorbraid
