#include "kernels/cpu/embedding/restored_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "checkpoint/bundle_reader.h"
#include "core/text/strings.h"
#include "kernels/cpu/embedding/copied_rows.h"

namespace tensorbraid::cpu {
namespace {

constexpr const char* kDeletedKeys = "-keys_deleted";

// One part of a saved table, or the whole of it.
struct SavedPart {
  std::string name;  // "a/b/emb" or "a/b/emb/part_0"
  int64_t rows = 0;
  bool has_versions = false, has_freqs = false;
};

std::string Named(const std::string& part, const std::string& slot) {
  return slot.empty() ? part : StrCat(part, "/", slot);
}

// NotFound if the checkpoint has no tensor of this name, InvalidArgument if it has another dtype or shape. Unknown
// sizes of `shape` match any size. Returns the number of rows.
StatusOr<int64_t> RowsIn(BundleReader& reader, const std::string& tensor, DType dtype, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(const auto info, reader.Find(tensor));
  if (info.dtype == dtype && shape.IsCompatibleWith(info.shape)) return info.shape.dim(0);
  return InvalidArgument("tensor '", tensor, "' of checkpoint ", reader.prefix(), " is ", info.dtype, info.shape,
                         ", but the growing table needs ", dtype, shape);
}

// Looks for the table `name` and its slots in a checkpoint, and checks the dtypes and shapes of their tensors.
StatusOr<std::vector<SavedPart>> FindParts(BundleReader& reader, const std::string& name,
                                           const std::vector<std::string>& slots, int64_t dim) {
  std::vector<SavedPart> parts;
  if (reader.Find(name + "-keys").ok()) {
    parts.push_back({.name = name});
  } else {
    for (int i = 0; i < kSmallTables; ++i) {
      const std::string part = StrCat(name, "/part_", i);
      const auto found = reader.Find(part + "-keys");
      if (!found.ok() && found.status().code() != absl::StatusCode::kNotFound) return found.status();
      if (!found.ok()) break;
      parts.push_back({.name = part});
    }
  }
  if (parts.empty()) {
    return NotFound("checkpoint ", reader.prefix(), " has no growing table '", name, "': it has neither '", name,
                    "-keys' nor '", name, "/part_0-keys'");
  }
  for (SavedPart& part : parts) {
    for (const std::string& slot : slots) {
      const std::string of = Named(part.name, slot);
      TF_ASSIGN_OR_RETURN(const int64_t rows, RowsIn(reader, of + "-keys", kInt64, Shape({Shape::kUnknownDim})));
      TF_RETURN_IF_ERROR(RowsIn(reader, of + "-values", kFloat32, Shape({rows, dim})).status());
      if (slot.empty()) part.rows = rows;
    }
    const auto versions = reader.Find(part.name + "-versions");
    part.has_versions = versions.ok() && versions->dtype == kInt64 && versions->shape == Shape({part.rows});
    const auto freqs = reader.Find(part.name + "-freqs");
    part.has_freqs = freqs.ok() && freqs->dtype == kInt64 && freqs->shape == Shape({part.rows});
  }
  return parts;
}

// Whether part `part` of `parts` may hold keys that saved part `saved` of `saved_parts` has.
bool ShareSmallTables(int part, int parts, int saved, int saved_parts) {
  for (int r = part; r < kSmallTables; r += parts) {
    if (r % saved_parts == saved) return true;
  }
  return false;
}

// Reads saved rows into a part of a table.
class TableRestore {
 public:
  TableRestore(KernelContext& ctx, const RestoredTable& table, const RowsDescription& description,
               const TableRows::Visit& visit, TableRows& rows, KeyCounts* counts)
      : ctx_(ctx), table_(table), description_(description), visit_(visit), rows_(rows), counts_(counts) {}

  // Looks which keys are deleted in the end. Those that have rows again, in the same increment or in a later one, are
  // not. Call it for each increment, the oldest first, before Read.
  Status ReadDeleted(BundleReader& increment) {
    TF_ASSIGN_OR_RETURN(const auto parts, FindParts(increment, table_.whole, {""}, rows_.dim()));
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
  Status Read(BundleReader& reader) {
    if (reader.Find(table_.whole).ok()) return ReadVariable(reader);
    TF_ASSIGN_OR_RETURN(const auto parts, FindParts(reader, table_.whole, table_.slots, rows_.dim()));
    for (size_t p = 0; p < parts.size(); ++p) {
      if (!ShareSmallTables(description_.part, description_.parts, static_cast<int>(p),
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
    for (size_t c = 0; c < table_.slots.size(); ++c) {
      const std::string name = Named(table_.whole, table_.slots[c]);
      const Shape shape({Shape::kUnknownDim, rows_.dim()});
      TF_ASSIGN_OR_RETURN(const int64_t rows, RowsIn(reader, name, kFloat32, shape));
      TF_ASSIGN_OR_RETURN(const Tensor values, reader.Read(name));
      std::vector<int64_t> keys(static_cast<size_t>(rows));
      std::iota(keys.begin(), keys.end(), 0);
      TF_RETURN_IF_ERROR(ReadBatches(keys, {{.number = table_.columns[c], .values = values}}, {}));
    }
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
    return counts_->bloom() == nullptr ? OkStatus() : ReadBloom(reader, part.name);
  }

  // Reads the Bloom filter of a saved part. An increment has none, nor has a table with exact counts.
  Status ReadBloom(BundleReader& reader, const std::string& part) {
    if (!reader.Find(part + kBloomShapeName).ok()) return OkStatus();
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
    std::array<Tensor, 3> lists;
    size_t i = 0;
    for (const char* list : {"-keys", "-freqs", "-versions"}) {
      const std::string name = StrCat(part, list, suffix);
      TF_RETURN_IF_ERROR(RowsIn(reader, name, kInt64, Shape({Shape::kUnknownDim})).status());
      TF_ASSIGN_OR_RETURN(lists[i++], reader.Read(name));
    }
    const auto keys = lists[0].data<int64_t>(), freqs = lists[1].data<int64_t>(), versions = lists[2].data<int64_t>();
    if (keys.size() != freqs.size() || (keys.size() != versions.size() && !versions.empty())) {
      return InvalidArgument("checkpoint ", reader.prefix(), " has ", keys.size(), " keys, ", freqs.size(),
                             " counts and ", versions.size(), " versions in '", part, "-keys", suffix,
                             "' and the tensors beside it");
    }
    for (size_t k = 0; k < keys.size(); ++k) {
      if (!HoldsKey(keys[k]) || (suffix.empty() && deleted_.contains(keys[k]))) continue;
      counts_->RaiseTo(keys[k], std::max(least, freqs[k]), versions.empty() ? 0 : versions[k]);
    }
    return OkStatus();
  }

  // A column, and its numbers in a checkpoint.
  struct SavedColumn {
    int number;
    Tensor values;
  };

  // Reads the rows of a saved part. Slots usually have the keys of the table, in the same order, and are read with it.
  // Keys of other slots that have no row are left out.
  Status ReadPart(BundleReader& reader, const SavedPart& part) {
    TF_ASSIGN_OR_RETURN(const Tensor keys, reader.Read(part.name + "-keys"));
    Tensor versions;
    if (part.has_versions) {
      TF_ASSIGN_OR_RETURN(versions, reader.Read(part.name + "-versions"));
    }
    std::vector<SavedColumn> together;
    std::vector<std::pair<Tensor, SavedColumn>> alone;  // with their keys
    for (size_t c = 0; c < table_.slots.size(); ++c) {
      const std::string name = Named(part.name, table_.slots[c]);
      TF_ASSIGN_OR_RETURN(const Tensor values, reader.Read(name + "-values"));
      const SavedColumn column = {.number = table_.columns[c], .values = values};
      if (table_.slots[c].empty()) {
        together.push_back(column);
        continue;
      }
      TF_ASSIGN_OR_RETURN(const Tensor keys_of_slot, reader.Read(name + "-keys"));
      if (std::ranges::equal(keys_of_slot.data<int64_t>(), keys.data<int64_t>())) {
        together.push_back(column);
      } else {
        alone.emplace_back(keys_of_slot, column);
      }
    }
    TF_RETURN_IF_ERROR(ReadBatches(keys.data<int64_t>(), together, versions));
    for (const auto& [keys_of_slot, column] : alone) {
      TF_RETURN_IF_ERROR(ReadBatches(keys_of_slot.data<int64_t>(), {column}, {}));
    }
    return OkStatus();
  }

  // Some keys at a time, so that the order of the visit takes little memory. Makes rows if column 0 is among the
  // columns. `versions` may be invalid.
  Status ReadBatches(std::span<const int64_t> keys, const std::vector<SavedColumn>& columns, const Tensor& versions) {
    constexpr size_t kBatch = size_t{1} << 20;
    for (size_t first = 0; first < keys.size(); first += kBatch) {
      if (ctx_.env().cancellation != nullptr) TF_RETURN_IF_ERROR(ctx_.env().cancellation->status());
      TF_RETURN_IF_ERROR(ReadBatch(keys, first, std::min(keys.size(), first + kBatch), columns,
                                   versions.is_valid() ? versions.data<int64_t>().data() : nullptr));
    }
    return OkStatus();
  }

  Status ReadBatch(std::span<const int64_t> all, size_t begin, size_t end, const std::vector<SavedColumn>& saved,
                   const int64_t* versions) {
    keys_.clear();
    at_.clear();
    for (size_t i = begin; i < end; ++i) {
      if (!HoldsKey(all[i])) continue;
      if (!deleted_.empty() && deleted_.contains(all[i])) continue;
      keys_.push_back(all[i]);
      at_.push_back(i);
    }
    std::vector<int> columns;
    std::vector<const float*> values;
    for (const SavedColumn& column : saved) {
      columns.push_back(column.number);
      values.push_back(column.values.data<float>().data());
    }
    TableRows::Visit visit = visit_;
    visit.keys = keys_;
    visit.columns = columns;
    visit.rows = nullptr;  // the values of new rows are read
    if (columns[0] != 0) visit.absent = TableRows::Absent::kReport;
    const auto dim = static_cast<size_t>(rows_.dim());
    return rows_.VisitKeys(ctx_.pool(), visit, [&](std::span<const VisitedRow> visited) {
      for (const VisitedRow& row : visited) {
        if (row.info == nullptr) continue;
        const size_t at = at_[row.number];
        for (size_t c = 0; c < values.size(); ++c) std::copy_n(values[c] + at * dim, dim, row.numbers[c]);
        if (versions != nullptr) row.info->version = std::max(versions[at], RowInfo::kFree + 1);
      }
    });
  }

  KernelContext& ctx_;
  const RestoredTable& table_;
  const RowsDescription& description_;
  const TableRows::Visit& visit_;
  TableRows& rows_;
  KeyCounts* const counts_;               // null without a filter
  absl::flat_hash_set<int64_t> deleted_;  // keys that have no row in the end
  std::vector<int64_t> keys_;             // of a batch, those that the part holds
  std::vector<size_t> at_;                // and where they are in the tensors
};

}  // namespace

Status ReadRows(KernelContext& ctx, const RestoredTable& table, const std::vector<std::string>& prefixes,
                const RowsDescription& description, const TableRows::Visit& visit, TableRows& rows, KeyCounts* counts) {
  TableRestore restore(ctx, table, description, visit, rows, counts);
  for (size_t i = 1; i < prefixes.size(); ++i) {
    TF_ASSIGN_OR_RETURN(const auto increment, BundleReader::Open(prefixes[i]));
    TF_RETURN_IF_ERROR(restore.ReadDeleted(*increment));
  }
  for (const std::string& prefix : prefixes) {
    TF_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(prefix));
    TF_RETURN_IF_ERROR(restore.Read(*reader));
  }
  return OkStatus();
}

}  // namespace tensorbraid::cpu
