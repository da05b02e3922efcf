#include "kernels/cpu/embedding/restored_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/changed_rows.h"
#include "checkpoint/row_tensors.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "kernels/cpu/embedding/copied_rows.h"
#include "kernels/cpu/embedding/row_batches.h"
#include "kernels/cpu/embedding/saved_parts.h"

namespace tensorbraid::cpu {
namespace {

constexpr const char* kDeletedKeys = "-keys_deleted";

// Whether part `part` of `parts` may hold keys that saved part `saved` of `saved_parts` has.
bool ShareSmallTables(int part, int parts, int saved, int saved_parts) {
  for (int r = part; r < kSmallTables; r += parts) {
    if (r % saved_parts == saved) return true;
  }
  return false;
}

// Rows that lie in several tensors of a checkpoint, one row after the other.
struct SavedRows {
  int64_t rows = 0;
  std::unique_ptr<TensorStream> keys = nullptr;      // null: row i has key first + i
  std::unique_ptr<TensorStream> versions = nullptr;  // null: none were saved
  std::vector<std::unique_ptr<TensorStream>> numbers = {};
  std::vector<int> columns = {};     // those of `numbers`
  std::vector<int64_t> widths = {};  // of these columns
  int64_t first = 0;                 // the key of row 0, if there are no keys
  int64_t read = 0;                  // rows

  // Reads up to `most` rows; none at the end.
  Status Next(int64_t most, RowBatch* batch) {
    batch->rows = static_cast<size_t>(std::min(most, rows - read));
    TF_RETURN_IF_ERROR(ReadList(keys.get(), batch->rows, &batch->keys));
    if (keys == nullptr) std::iota(batch->keys.begin(), batch->keys.end(), first + read);
    if (versions != nullptr) TF_RETURN_IF_ERROR(ReadList(versions.get(), batch->rows, &batch->versions));
    batch->numbers.resize(numbers.size());
    for (size_t c = 0; c < numbers.size(); ++c) {
      TF_RETURN_IF_ERROR(ReadList(numbers[c].get(), batch->rows * static_cast<size_t>(widths[c]), &batch->numbers[c]));
    }
    read += static_cast<int64_t>(batch->rows);
    return OkStatus();
  }

  template <typename T>
  static Status ReadList(TensorStream* stream, size_t n, std::vector<T>* list) {
    if (list->size() < n) list->resize(n);
    return stream == nullptr ? OkStatus() : stream->Read(n * sizeof(T), list->data());
  }
};

// Reads saved rows into a part of a table.
class TableRestore {
 public:
  TableRestore(KernelContext& ctx, const RestoredTable& table, const RowsDescription& description,
               const TableRows::Visit& visit, TableRows& rows, KeyCounts* counts)
      : ctx_(ctx), table_(table), description_(description), visit_(visit), rows_(rows), counts_(counts) {
    for (const int column : table.columns) widths_.push_back(rows.width(static_cast<size_t>(column)));
  }

  // Looks which keys are deleted in the end. Those that have rows again, in the same increment or in a later one, are
  // not. Call it for each increment, the oldest first, before Read.
  Status ReadDeleted(BundleReader& increment) {
    TF_ASSIGN_OR_RETURN(const bool is_variable, HasVariable(increment, table_.whole));
    if (is_variable) return OkStatus();
    if (IsOfDeepRec(increment, table_.whole)) return OkStatus();
    TF_ASSIGN_OR_RETURN(const auto parts, FindSavedParts(increment, table_.whole, {""}, widths_, false));
    for (const SavedPart& part : parts) {
      const std::string name = part.name + kDeletedKeys;
      TF_RETURN_IF_ERROR(RowsIn(increment, name, kInt64, Shape({Shape::kUnknownDim})).status());
      TF_ASSIGN_OR_RETURN(const Tensor deleted, increment.Read(name));
      for (const int64_t key : deleted.data<int64_t>()) deleted_.insert(key);
    }
    for (const SavedPart& part : parts) {
      if (deleted_.empty()) return OkStatus();
      TF_ASSIGN_OR_RETURN(const Tensor keys, increment.Read(part.name + "-keys"));
      for (const int64_t key : keys.data<int64_t>()) deleted_.erase(key);
    }
    return OkStatus();
  }

  // Reads all rows of a checkpoint or an increment.
  Status Read(BundleReader& reader, bool is_increment) {
    const bool of_deeprec = is_increment && IsOfDeepRec(reader, table_.whole);
    TF_ASSIGN_OR_RETURN(const bool is_variable, HasVariable(reader, table_.whole));
    if (is_variable) return ReadVariable(reader);
    TF_ASSIGN_OR_RETURN(const auto parts, FindSavedParts(reader, table_.whole, table_.slots, widths_, of_deeprec));
    for (size_t p = 0; p < parts.size(); ++p) {
      if (of_deeprec && !reader.Find(StrCat(parts[p].name, kDeepRecOffsets)).ok()) {
        return InvalidArgument("the increment ", reader.prefix(), " of DeepRec has rows of the static variable '",
                               parts[p].name,
                               "', which a growing table cannot begin with: save a full checkpoint first");
      }
      if (!of_deeprec && !ShareSmallTables(description_.part, description_.parts, static_cast<int>(p),
                                           static_cast<int>(parts.size()))) {
        continue;
      }
      TF_RETURN_IF_ERROR(ReadPart(reader, parts[p]));
      if (counts_ != nullptr) TF_RETURN_IF_ERROR(ReadCounts(reader, parts[p]));
    }
    return OkStatus();
  }

 private:
  bool HoldsKey(int64_t key) const { return TableRows::ResidueOf(key) % description_.parts == description_.part; }

  // Reads a static variable and its slots: row i has key i.
  Status ReadVariable(BundleReader& reader) {
    if (counts_ != nullptr) return NoCounts(reader);
    TF_ASSIGN_OR_RETURN(const auto tensors, reader.List());
    for (size_t c = 0; c < table_.slots.size(); ++c) {
      const std::string name = NameOfColumn(table_.whole, table_.slots[c]);
      std::vector<ChangedRowsOfPart> parts = FindChangedRows(tensors, name);
      if (parts.empty()) parts = {{.numbers = "", .values = name, .first_row = 0}};  // a whole variable
      for (const ChangedRowsOfPart& part : parts) {
        const Shape shape({Shape::kUnknownDim, widths_[c]});
        TF_ASSIGN_OR_RETURN(const int64_t rows, RowsIn(reader, part.values, kFloat32, shape));
        SavedRows saved{.rows = rows, .columns = {table_.columns[c]}, .widths = {widths_[c]}, .first = part.first_row};
        TF_RETURN_IF_ERROR(AddNumbers(reader, part, &saved));
        TF_RETURN_IF_ERROR(AddStream(reader, part.values, &saved.numbers));
        TF_RETURN_IF_ERROR(ReadAll(saved));
      }
    }
    return OkStatus();
  }

  // Sets the keys to the numbers of the rows that have changed, if not all have.
  static Status AddNumbers(BundleReader& reader, const ChangedRowsOfPart& part, SavedRows* saved) {
    if (part.numbers.empty()) return OkStatus();
    TF_ASSIGN_OR_RETURN(const int64_t n, RowsIn(reader, part.numbers, kInt64, Shape({Shape::kUnknownDim})));
    if (n == 0) return OkStatus();
    if (n != saved->rows) {
      return InvalidArgument("the increment ", reader.prefix(), " has ", n, " numbers '", part.numbers, "' of ",
                             saved->rows, " rows");
    }
    TF_ASSIGN_OR_RETURN(saved->keys, reader.Stream(part.numbers));
    return OkStatus();
  }

  Status NoCounts(const BundleReader& reader) const {
    return FailedPrecondition("growing table '", table_.whole, "' has a filter that admits keys after ",
                              description_.filter_freq, " occurrences, but checkpoint ", reader.prefix(),
                              " has no counts of its keys, because it was saved without a filter: make the table ",
                              "without the filter, or train it anew");
  }

  // Reads the counts of a saved part. Rows are admitted whatever their count.
  Status ReadCounts(BundleReader& reader, const SavedPart& part) {
    if (part.rows > 0 && !part.has_freqs) return NoCounts(reader);
    if (part.rows > 0) TF_RETURN_IF_ERROR(RaiseCounts(reader, part.name, "", description_.filter_freq));
    if (!reader.Find(part.name + "-keys_filtered").ok()) return OkStatus();
    TF_RETURN_IF_ERROR(RaiseCounts(reader, part.name, "_filtered", 0));
    return ReadBloom(reader, part.name);
  }

  // Reads the Bloom filter of a saved part. An increment has none, nor has a table with exact counts.
  Status ReadBloom(BundleReader& reader, const std::string& part) {
    if (!reader.Find(part + kBloomShapeName).ok()) return OkStatus();
    if (counts_->bloom() == nullptr) {
      if (!std::exchange(said_counts_are_lost_, true)) {
        TB_LOG(Warning, "kernels") << "growing table '" << table_.whole << "' counts exactly, but the Bloom filter of "
                                   << "checkpoint " << reader.prefix() << " has no keys, so keys that it has not "
                                   << "admitted yet are counted from 0 again; to go on, give it the earlier CBFFilter";
      }
      return OkStatus();
    }
    BloomCounts& bloom = *counts_->bloom();
    const Tensor expected = TensorOf(bloom.shape());
    TF_ASSIGN_OR_RETURN(const Tensor shape, reader.Read(part + kBloomShapeName));
    if (shape.dtype() != kInt64 || !std::ranges::equal(shape.data<int64_t>(), expected.data<int64_t>())) {
      return FailedPrecondition("the filter of growing table '", table_.whole, "' in checkpoint ", reader.prefix(),
                                " was made for another number of keys, error or number of occurrences: give the table ",
                                "the earlier ones, or train it anew");
    }
    constexpr int64_t kWords = std::tuple_size_v<BloomCounts::Block>;
    TF_ASSIGN_OR_RETURN(const int64_t n, RowsIn(reader, part + kBloomBlocksName, kInt64, Shape({Shape::kUnknownDim})));
    TF_RETURN_IF_ERROR(RowsIn(reader, part + kBloomCountersName, kInt64, Shape({n, kWords})).status());
    TF_ASSIGN_OR_RETURN(const Tensor blocks, reader.Read(part + kBloomBlocksName));
    TF_ASSIGN_OR_RETURN(const Tensor counters, reader.Read(part + kBloomCountersName));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t number = blocks.data<int64_t>()[static_cast<size_t>(i)], residue = number / bloom.shape().blocks;
      if (number < 0 || residue >= kSmallTables) {
        return DataLoss("'", part, kBloomBlocksName, "' of checkpoint ", reader.prefix(), " has a block ", number);
      }
      if (residue % description_.parts != description_.part) continue;
      BloomCounts::Block block;
      std::memcpy(block.data(), counters.data<int64_t>().data() + i * kWords, sizeof(block));
      bloom.RaiseBlock(static_cast<int>(residue), number % bloom.shape().blocks, block);
    }
    return OkStatus();
  }

  Status RaiseCounts(BundleReader& reader, const std::string& part, const std::string& suffix, int64_t least) {
    std::array<std::unique_ptr<TensorStream>, 3> lists;
    std::array<int64_t, 3> lengths;
    size_t i = 0;
    for (const char* list : {"keys", "freqs", "versions"}) {
      const std::string name = RowTensor(reader, part, StrCat(list, suffix));
      TF_ASSIGN_OR_RETURN(lengths[i], RowsIn(reader, name, kInt64, Shape({Shape::kUnknownDim})));
      TF_ASSIGN_OR_RETURN(lists[i++], reader.Stream(name));
    }
    const auto [num_keys, num_freqs, num_versions] = lengths;
    if (num_keys != num_freqs || (num_keys != num_versions && num_versions != 0)) {
      return InvalidArgument("checkpoint ", reader.prefix(), " has ", num_keys, " keys, ", num_freqs, " counts and ",
                             num_versions, " versions in '", part, "-keys", suffix, "' and the tensors beside it");
    }
    constexpr int64_t kMost = 1 << 16;
    std::vector<int64_t> keys, freqs, versions;
    for (int64_t first = 0; first < num_keys; first += kMost) {
      const auto n = static_cast<size_t>(std::min(kMost, num_keys - first));
      TF_RETURN_IF_ERROR(SavedRows::ReadList(lists[0].get(), n, &keys));
      TF_RETURN_IF_ERROR(SavedRows::ReadList(lists[1].get(), n, &freqs));
      TF_RETURN_IF_ERROR(SavedRows::ReadList(num_versions == 0 ? nullptr : lists[2].get(), n, &versions));
      for (size_t k = 0; k < n; ++k) {
        if (!HoldsKey(keys[k]) || (suffix.empty() && deleted_.contains(keys[k]))) continue;
        counts_->RaiseTo(keys[k], std::max(least, freqs[k]), versions[k]);
      }
    }
    return OkStatus();
  }

  static Status AddStream(BundleReader& reader, const std::string& name,
                          std::vector<std::unique_ptr<TensorStream>>* streams) {
    TF_ASSIGN_OR_RETURN(auto stream, reader.Stream(name));
    streams->push_back(std::move(stream));
    return OkStatus();
  }

  // Whether a slot has the keys of the table, in the same order. They usually share their bytes.
  static StatusOr<bool> SameKeys(BundleReader& reader, const std::string& table, const std::string& slot) {
    TF_ASSIGN_OR_RETURN(const bool shared, reader.ShareBytes(table, slot));
    if (shared) return true;
    TF_ASSIGN_OR_RETURN(const Tensor keys, reader.Read(table));
    TF_ASSIGN_OR_RETURN(const Tensor keys_of_slot, reader.Read(slot));
    return std::ranges::equal(keys.data<int64_t>(), keys_of_slot.data<int64_t>());
  }

  // Reads the rows of a saved part. Slots that have the keys of the table are read with it. Keys of other slots that
  // have no row are left out.
  Status ReadPart(BundleReader& reader, const SavedPart& part) {
    SavedRows saved{.rows = part.rows};
    const std::string keys = RowTensor(reader, part.name, "keys");
    TF_ASSIGN_OR_RETURN(saved.keys, reader.Stream(keys));
    if (part.has_versions) {
      TF_ASSIGN_OR_RETURN(saved.versions, reader.Stream(RowTensor(reader, part.name, "versions")));
    }
    std::vector<size_t> alone;
    for (size_t c = 0; c < table_.slots.size(); ++c) {
      const std::string name = NameOfColumn(part.name, table_.slots[c]);
      TF_ASSIGN_OR_RETURN(const bool together, SameKeys(reader, keys, RowTensor(reader, name, "keys")));
      if (!together) {
        alone.push_back(c);
        continue;
      }
      TF_RETURN_IF_ERROR(AddStream(reader, RowTensor(reader, name, "values"), &saved.numbers));
      saved.columns.push_back(table_.columns[c]);
      saved.widths.push_back(widths_[c]);
    }
    TF_RETURN_IF_ERROR(ReadAll(saved));
    for (const size_t c : alone) {
      const std::string name = NameOfColumn(part.name, table_.slots[c]);
      SavedRows of_slot{.columns = {table_.columns[c]}, .widths = {widths_[c]}};
      const std::string keys_of_slot = RowTensor(reader, name, "keys");
      TF_ASSIGN_OR_RETURN(of_slot.rows, RowsIn(reader, keys_of_slot, kInt64, Shape({Shape::kUnknownDim})));
      TF_ASSIGN_OR_RETURN(of_slot.keys, reader.Stream(keys_of_slot));
      TF_RETURN_IF_ERROR(AddStream(reader, RowTensor(reader, name, "values"), &of_slot.numbers));
      TF_RETURN_IF_ERROR(ReadAll(of_slot));
    }
    return OkStatus();
  }

  // The rows that are read together. A batch of a large table has the keys of several small tables, so that threads
  // seldom wait for each other.
  int64_t RowsOfBatch(const SavedRows& saved) const {
    constexpr int64_t kBytes = int64_t{4} << 20, kBatches = 400;
    const int64_t numbers = std::accumulate(saved.widths.begin(), saved.widths.end(), int64_t{0});
    const int64_t row = 16 + numbers * int64_t{sizeof(float)};
    return std::max({int64_t{64}, kBytes / row, saved.rows / kBatches});
  }

  // Makes all rows, or sets the columns of those that exist if column 0 is not among the columns. One thread reads, and
  // the idle threads of the pool make rows.
  Status ReadAll(SavedRows& saved) {
    const int64_t most = RowsOfBatch(saved);
    const auto next = [&](RowBatch* batch) -> Status {
      if (ctx_.env().cancellation != nullptr) TF_RETURN_IF_ERROR(ctx_.env().cancellation->status());
      return saved.Next(most, batch);
    };
    if (saved.rows <= most || ctx_.pool().num_threads() == 0) {
      RowBatch batch;
      Scratch scratch;
      while (saved.read < saved.rows) {
        TF_RETURN_IF_ERROR(next(&batch));
        TF_RETURN_IF_ERROR(Make(batch, saved, &scratch));
      }
      return OkStatus();
    }
    constexpr int kMostThreads = 16;
    const int threads = std::min(ctx_.pool().num_threads() + 1, kMostThreads);
    RowBatches batches(next, static_cast<size_t>(threads) + 1);
    // A thread that comes late finds no batch left.
    ctx_.pool().ParallelFor(threads, 1e9, [&](int64_t, int64_t) {
      RowBatch batch;
      Scratch scratch;
      while (batches.Take(&batch)) {
        if (const Status made = Make(batch, saved, &scratch); !made.ok()) batches.Fail(made);
      }
    });
    return batches.status();
  }

  // Those rows of a batch that the part holds.
  struct Scratch {
    std::vector<int64_t> keys = {};
    std::vector<size_t> at = {};  // where they are in the batch
  };

  Status Make(const RowBatch& batch, const SavedRows& saved, Scratch* scratch) {
    const std::vector<int>& columns = saved.columns;
    scratch->keys.clear();
    scratch->at.clear();
    for (size_t i = 0; i < batch.rows; ++i) {
      if (!HoldsKey(batch.keys[i])) continue;
      if (!deleted_.empty() && deleted_.contains(batch.keys[i])) continue;
      scratch->keys.push_back(batch.keys[i]);
      scratch->at.push_back(i);
    }
    TableRows::Visit visit = visit_;
    visit.keys = scratch->keys;
    visit.columns = columns;
    visit.rows = nullptr;  // the values of new rows are read
    visit.cost_ns = 0;     // other threads have batches of their own
    if (columns[0] != 0) visit.absent = TableRows::Absent::kReport;
    return rows_.VisitKeys(ctx_.pool(), visit, [&](std::span<const VisitedRow> visited) {
      for (const VisitedRow& row : visited) {
        if (row.info == nullptr) continue;
        const size_t at = scratch->at[row.number];
        for (size_t c = 0; c < columns.size(); ++c) {
          const auto width = static_cast<size_t>(saved.widths[c]);
          std::copy_n(batch.numbers[c].data() + at * width, width, row.numbers[c]);
        }
        if (!batch.versions.empty()) row.info->version = std::max(batch.versions[at], RowInfo::kFree + 1);
      }
    });
  }

  KernelContext& ctx_;
  const RestoredTable& table_;
  const RowsDescription& description_;
  const TableRows::Visit& visit_;
  TableRows& rows_;
  KeyCounts* const counts_;  // null without a filter
  bool said_counts_are_lost_ = false;
  std::vector<int64_t> widths_;           // of table_.columns
  absl::flat_hash_set<int64_t> deleted_;  // keys that have no row in the end
};

}  // namespace

Status ReadRows(KernelContext& ctx, const RestoredTable& table, const std::vector<std::string>& prefixes,
                const RowsDescription& description, const TableRows::Visit& visit, TableRows& rows, KeyCounts* counts) {
  TableRestore restore(ctx, table, description, visit, rows, counts);
  for (size_t i = 1; i < prefixes.size(); ++i) {
    TF_ASSIGN_OR_RETURN(const auto increment, BundleReader::Open(prefixes[i]));
    TF_RETURN_IF_ERROR(restore.ReadDeleted(*increment));
  }
  for (size_t i = 0; i < prefixes.size(); ++i) {
    TF_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(prefixes[i]));
    if (i == 0) TF_RETURN_IF_ERROR(CheckIsFull(*reader, table.whole));
    TF_RETURN_IF_ERROR(restore.Read(*reader, /*is_increment=*/i > 0));
  }
  return OkStatus();
}

}  // namespace tensorbraid::cpu
