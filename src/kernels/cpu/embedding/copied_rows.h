// Copies of the rows of growing tables, which checkpoints are made of.
#ifndef TENSORBRAID_KERNELS_CPU_EMBEDDING_COPIED_ROWS_H_
#define TENSORBRAID_KERNELS_CPU_EMBEDDING_COPIED_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/tables/embedding_table.h"

namespace tensorbraid::cpu {

// What a save has copied of one small table.
struct CopiedRows {
  int residue = 0;                                                                       // of the small table
  std::vector<int64_t> keys = {}, freqs = {}, versions = {};                             // no freqs without a filter
  std::vector<std::vector<float>> numbers = {};                                          // of each column
  std::vector<int64_t> filtered_keys = {}, filtered_freqs = {}, filtered_versions = {};  // that are not admitted
  std::vector<int64_t> bloom_blocks = {};                                                // residue * blocks + block
  std::vector<BloomCounts::Block> bloom_counters = {};                                   // of these blocks
  std::vector<int64_t> deleted = {};                                                     // of an increment

  size_t num_bytes() const {
    size_t bytes = bloom_counters.size() * sizeof(BloomCounts::Block);
    for (const auto* list :
         {&keys, &freqs, &versions, &filtered_keys, &filtered_freqs, &filtered_versions, &bloom_blocks, &deleted}) {
      bytes += list->size() * sizeof(int64_t);
    }
    for (const auto& column : numbers) bytes += column.size() * sizeof(float);
    return bytes;
  }
};

// The tensors of a Bloom filter, besides DeepRec's. DeepRec has none.
inline constexpr const char* kBloomBlocksName = "-filter_blocks";
inline constexpr const char* kBloomCountersName = "-filter_counters";
inline constexpr const char* kBloomShapeName = "-filter_shape";

inline Tensor TensorOf(const BloomShape& shape) {
  return Tensor::Vector<int64_t>({shape.blocks, int64_t{shape.bits}, int64_t{shape.hashes}});
}

// Numbers of a save and of the completed one before it (runtime/tables/changes.h).
struct SaveNumbers {
  uint64_t save = 0;  // 0: no increment can follow
  uint64_t predecessor = 0;
};

// Copies small tables. The lock of the small table is held when a call begins and ends, which the analysis does not
// see.
class RowCopier {
 public:
  RowCopier(const EmbeddingTable& table, std::span<const int> columns) {
    for (const int column : columns) {
      columns_.push_back({static_cast<size_t>(column), static_cast<size_t>(table.width(column))});
    }
  }

  // Copies all rows, and the counts of keys that have none. `counts` is null without a filter. Records in `small` that
  // this save has them. Lets steps use the small table meanwhile: the rows are those of the beginning, each as it is at
  // some moment of the call, and what steps change is recorded as later than the save.
  void CopyAll(int residue, SmallTable& small, const KeyCounts* counts, const SaveNumbers& numbers,
               CopiedRows* to) const TB_NO_THREAD_SAFETY_ANALYSIS {
    // If a row that was copied is erased, and its key gets a row again, both places have the key. This is seldom, so
    // all is copied again then, and steps wait.
    if (!TryCopyAll(residue, small, counts, numbers, true, to)) TryCopyAll(residue, small, counts, numbers, false, to);
  }

  // Copies the rows that have changed since numbers.predecessor, the keys that were deleted, and the changed counts of
  // keys that have no row. Returns false if it is not known what has changed.
  bool CopyChanges(int residue, SmallTable& small, const KeyCounts* counts, const SaveNumbers& numbers,
                   CopiedRows* to) const TB_NO_THREAD_SAFETY_ANALYSIS {
    Clear(to);
    Resize(0, nullptr, to);
    if (small.changes == nullptr || !small.changes->TakeSince(numbers.predecessor, numbers.save)) return false;
    size_t rows = 0;
    small.changes->ForEachTaken([&](uint32_t) { ++rows; });
    Resize(rows, counts, to);
    size_t at = 0;
    small.changes->ForEachTaken([&](uint32_t row) { CopyRow(small, row, counts, at++, to); });
    to->deleted = small.changes->taken_deleted();
    if (counts != nullptr) {
      counts->TakeSince(residue, numbers.predecessor, numbers.save,
                        [&](const KeyCount& key) TB_NO_THREAD_SAFETY_ANALYSIS { CopyFiltered(small, key, to); });
    }
    return true;
  }

 private:
  // How many rows are copied before steps are let in, in about 4 us.
  static constexpr uint32_t kRowsAtOnce = 128;

  // Returns false if a row was erased, or a free place used, while steps were let in.
  bool TryCopyAll(int residue, SmallTable& small, const KeyCounts* counts, const SaveNumbers& numbers, bool lets_in,
                  CopiedRows* to) const TB_NO_THREAD_SAFETY_ANALYSIS {
    Clear(to);
    to->residue = residue;
    if (counts != nullptr) CopyCounts(residue, small, *counts, to);
    if (numbers.save != 0) {
      if (counts != nullptr) counts->TakeAll(residue, numbers.save);
      if (small.changes == nullptr) small.RecordChanges(0);
      small.changes->TakeAll(numbers.predecessor, numbers.save);
    }
    Resize(small.rows(), counts, to);
    const uint32_t end = small.end_row();
    const uint16_t turnover = small.turnover();
    size_t at = 0;
    for (uint32_t row = 0; row < end; ++row) {
      if (lets_in && row % kRowsAtOnce == kRowsAtOnce - 1) {
        small.mu.LetOthersIn();
        if (small.turnover() != turnover) return false;
      }
      if (small.HasRow(row)) CopyRow(small, row, counts, at++, to);
    }
    return true;
  }
  // Copies the counts of a Bloom filter, or of keys that have no row.
  static void CopyCounts(int residue, const SmallTable& small, const KeyCounts& counts,
                         CopiedRows* to) TB_NO_THREAD_SAFETY_ANALYSIS {
    if (const BloomCounts* const bloom = counts.bloom(); bloom != nullptr) {
      bloom->ForEachBlock(residue, [&](int64_t block, const BloomCounts::Block& counters) {
        to->bloom_blocks.push_back(residue * bloom->shape().blocks + block);
        to->bloom_counters.push_back(counters);
      });
    }
    counts.ForEach(residue, [&](const KeyCount& key) TB_NO_THREAD_SAFETY_ANALYSIS { CopyFiltered(small, key, to); });
  }
  void Clear(CopiedRows* rows) const {
    // The other lists get their sizes from Resize. If they were empty before, it would set all their numbers to 0.
    for (auto* list : {&rows->freqs, &rows->filtered_keys, &rows->filtered_freqs, &rows->filtered_versions,
                       &rows->bloom_blocks, &rows->deleted}) {
      list->clear();
    }
    rows->bloom_counters.clear();
    rows->numbers.resize(columns_.size());
  }
  // Makes room for so many rows.
  void Resize(size_t rows, const KeyCounts* counts, CopiedRows* to) const {
    to->keys.resize(rows);
    to->versions.resize(rows);
    if (counts != nullptr) to->freqs.resize(rows);
    for (size_t c = 0; c < columns_.size(); ++c) to->numbers[c].resize(rows * columns_[c].width);
  }
  // Copies the count of a key if it has no row.
  static void CopyFiltered(const SmallTable& small, const KeyCount& key, CopiedRows* to) TB_NO_THREAD_SAFETY_ANALYSIS {
    if (small.Find(key.key, KeyHash(key.key)) != RowIndex::kNone) return;
    to->filtered_keys.push_back(key.key);
    to->filtered_freqs.push_back(key.count);
    to->filtered_versions.push_back(key.version);
  }
  // Copies a row to place `at` of the lists.
  void CopyRow(const SmallTable& small, uint32_t row, const KeyCounts* counts, size_t at,
               CopiedRows* to) const TB_NO_THREAD_SAFETY_ANALYSIS {
    const RowInfo& info = small.info(row);
    to->keys[at] = info.key;
    to->versions[at] = info.version;
    if (counts != nullptr) to->freqs[at] = counts->CountOf(info.key);
    for (size_t c = 0; c < columns_.size(); ++c) {
      const auto [column, width] = columns_[c];
      std::copy_n(small.numbers(column, row), width, to->numbers[c].data() + at * width);
    }
  }

  struct Column {
    size_t number;
    size_t width;
  };
  std::vector<Column> columns_;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_EMBEDDING_COPIED_ROWS_H_
