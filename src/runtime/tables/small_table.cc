#include "runtime/tables/small_table.h"

#include <algorithm>

namespace tensorbraid {

void TableMemory::Add(const TableMemory& other) {
  rows += other.rows;
  numbers += other.numbers;
  reserved += other.reserved;
  beside += other.beside;
  most_moved = std::max(most_moved, other.most_moved);
}

bool SmallTable::EnsureColumns(std::span<const float> initial) {
  while (columns_.size() < initial.size()) {
    RowChunks<float> column;
    while (column.chunks() < infos_.chunks()) {
      if (!column.AddChunk(dim_)) return false;
    }
    columns_.push_back(std::move(column));
    FillColumn(columns_.size() - 1, initial[columns_.size() - 1]);
  }
  return true;
}

bool SmallTable::AddChunk() {
  if (!infos_.AddChunk(1)) return false;
  for (size_t column = 0; column < columns_.size(); ++column) {
    if (columns_[column].AddChunk(dim_)) continue;
    while (column-- > 0) columns_[column].RemoveLastChunk();
    infos_.RemoveLastChunk();
    return false;
  }
  return true;
}

uint32_t SmallTable::Add(int64_t key, uint64_t hash, const FirstRows* rows, std::span<const float> initial) {
  const uint32_t row = index_.rows();
  if (RowPlace(row).chunk == infos_.chunks() && !AddChunk()) return RowIndex::kNone;
  const RowChunks<RowInfo>* const infos = &infos_;
  const auto hash_of = [infos](uint32_t r) { return KeyHash(infos->At(RowPlace(r), 1)->key); };
  if (!index_.Insert(hash, hash_of)) return RowIndex::kNone;
  info(row) = {.key = key, .version = -1};
  if (rows != nullptr) rows->Fill(key, {numbers(0, row), dim_});
  for (size_t column = 1; column < columns_.size(); ++column) {
    std::fill_n(numbers(column, row), dim_, column < initial.size() ? initial[column] : 0.0f);
  }
  return row;
}

void SmallTable::FillColumn(size_t column, float initial) {
  for (uint32_t row = 0; row < rows(); ++row) std::fill_n(numbers(column, row), dim_, initial);
  if (changes != nullptr) changes->AllChanged(rows());
}

TableMemory SmallTable::Memory() const {
  TableMemory memory{.rows = rows(), .most_moved = index_.most_moved()};
  memory.numbers = int64_t{rows()} * static_cast<int64_t>(columns_.size() * dim_ * sizeof(float));
  for (const auto& column : columns_) memory.reserved += column.bytes(dim_);
  memory.beside = static_cast<int64_t>(sizeof(*this) + columns_.capacity() * sizeof(columns_[0])) + index_.bytes() +
                  infos_.bytes(1);
  if (changes != nullptr) memory.beside += changes->bytes();
  return memory;
}

}  // namespace tensorbraid
