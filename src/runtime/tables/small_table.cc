#include "runtime/tables/small_table.h"

#include <algorithm>

namespace tensorbraid {

void TableMemory::Add(const TableMemory& other) {
  rows += other.rows;
  numbers += other.numbers;
  unused += other.unused;
  beside += other.beside;
  most_moved = std::max(most_moved, other.most_moved);
}

bool SmallTable::AddColumns(std::span<const float> initial) {
  if (chunks_.chunks() == 0) {
    columns_ = first_columns_ = static_cast<uint8_t>(initial.size());
    constexpr size_t kAlign = alignof(RowInfo);
    stride_ = static_cast<uint32_t>((BytesTo(columns_ - size_t{1}) + kAlign - 1) / kAlign * kAlign);
    return true;
  }
  if (later_ == nullptr) later_ = std::make_unique<std::vector<RowChunks>>();
  while (columns_ < initial.size()) {
    RowChunks column;
    while (column.chunks() < chunks_.chunks()) {
      if (!column.AddChunk(row_bytes(columns_), shared_->arena)) return false;
    }
    later_->push_back(std::move(column));
    FillColumn(columns_, initial[columns_]);
    ++columns_;
  }
  return true;
}

bool SmallTable::EnsureChunk(uint32_t chunk) {
  if (chunks_.chunks() == 0) {
    // Other small tables may have had rows before there were so many columns.
    size_t together = shared_->together.load(std::memory_order_relaxed);
    while (together > first_columns_ &&
           !shared_->together.compare_exchange_weak(together, first_columns_, std::memory_order_relaxed)) {
    }
  }
  if (chunks_.chunks() == chunk && !chunks_.AddChunk(stride_, shared_->arena)) return false;
  for (size_t column = 0; later_ != nullptr && column < later_->size(); ++column) {
    RowChunks& chunks = (*later_)[column];
    if (chunks.chunks() == chunk && !chunks.AddChunk(row_bytes(first_columns_ + column), shared_->arena)) return false;
  }
  return true;
}

uint32_t SmallTable::Add(int64_t key, uint64_t hash, const FirstRows* rows, std::span<const float> initial) {
  const uint32_t row = next_row();
  if (!EnsureChunk(RowPlace(row).chunk)) return RowIndex::kNone;
  const auto hash_of = [this](uint32_t r) TB_NO_THREAD_SAFETY_ANALYSIS { return KeyHash(info(r).key); };
  if (!index_.Insert(hash, row, shared_->arena, hash_of, progress_)) return RowIndex::kNone;
  if (row == free_) {
    free_ = static_cast<uint32_t>(info(row).key);
    ++turnover_;
  }
  info(row) = {.key = key, .version = -1};
  if (rows != nullptr) rows->Fill(key, {numbers(0, row), shared_->dim});
  for (size_t column = 1; column < columns_; ++column) {
    std::fill_n(numbers(column, row), width(column), column < initial.size() ? initial[column] : 0.0f);
  }
  return row;
}

void SmallTable::Erase(uint32_t row) {
  RowInfo& erased = info(row);
  index_.Erase(KeyHash(erased.key), row, progress_);
  if (changes != nullptr) changes->Deleted(row, erased.key);
  const uint64_t free = uint64_t{NumFree()} + 1;
  erased = {.key = static_cast<int64_t>(free << 32 | free_), .version = RowInfo::kFree};
  free_ = row;
  ++turnover_;
}

void SmallTable::FillColumn(size_t column, float initial) {
  ForEachRow([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
    std::fill_n(numbers(column, row), width(column), initial);
    if (changes != nullptr) changes->Changed(row);
  });
}

TableMemory SmallTable::Memory() const {
  TableMemory memory{.rows = rows(), .most_moved = progress_.most_moved};
  memory.numbers = int64_t{rows()} * int64_t{shared_->begin[columns_]} * static_cast<int64_t>(sizeof(float));
  int64_t all = static_cast<int64_t>(sizeof(*this)) + index_.bytes() + chunks_.bytes(stride_);
  int64_t of_row = stride_;
  for (size_t column = first_columns_; column < columns_; ++column) {
    const RowChunks& chunks = (*later_)[column - first_columns_];
    all += chunks.bytes(row_bytes(column)) + static_cast<int64_t>(sizeof(chunks));
    of_row += static_cast<int64_t>(row_bytes(column));
  }
  if (changes != nullptr) all += changes->bytes();
  memory.unused = (chunks_.rows() - rows()) * of_row;
  memory.beside = all - memory.numbers - memory.unused;
  return memory;
}

}  // namespace tensorbraid
