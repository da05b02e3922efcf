#include "cli/table/saved_tables_reader.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "checkpoint/row_tensors.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr std::string_view kKeys = "-keys", kKeysOfDeepRec = "-sparse_incr_keys", kPart = "/part_";

}  // namespace

std::pair<std::string, std::optional<int>> WholeAndPart(const std::string& name) {
  const size_t at = name.rfind(kPart);
  if (at == std::string::npos) return {name, std::nullopt};
  const std::string digits = name.substr(at + kPart.size());
  const bool number = !digits.empty() && digits.size() < 5 &&
                      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!number) return {name, std::nullopt};
  return {name.substr(0, at), std::stoi(digits)};
}

StatusOr<SavedTablesReader> SavedTablesReader::OpenOne(const std::string& prefix, Kind kind) {
  TF_ASSIGN_OR_RETURN(auto opened, BundleReader::Open(prefix));
  SavedTablesReader reader(std::move(opened));
  TF_RETURN_IF_ERROR(reader.FindTables(kind));
  return reader;
}

StatusOr<SavedTablesReader> SavedTablesReader::OpenIncrement(const std::string& prefix) {
  return OpenOne(prefix, Kind::kIncrement);
}

StatusOr<SavedTablesReader> SavedTablesReader::Open(const std::string& prefix,
                                                    const std::vector<std::string>& increments) {
  TF_ASSIGN_OR_RETURN(SavedTablesReader reader, OpenOne(prefix, Kind::kFull));
  for (const std::string& increment : increments) {
    TF_ASSIGN_OR_RETURN(SavedTablesReader opened, OpenIncrement(increment));
    // A full checkpoint that has no rows of a table does not show whether the table counts its keys.
    for (TableInCheckpoint& table : reader.tables_) {
      const auto here = std::ranges::find(opened.tables_, table.name, &TableInCheckpoint::name);
      if (here != opened.tables_.end() && here->has_frequencies) table.has_frequencies = true;
    }
    reader.increments_.push_back(std::move(opened));
  }
  return reader;
}

Status SavedTablesReader::FindTables(Kind kind) {
  TF_ASSIGN_OR_RETURN(const auto tensors, reader_->List());
  // What has keys and values, in the order of the names. A slot's name begins with the name of its part and "/".
  std::vector<std::string> found;
  for (const BundleReader::Info& info : tensors) {
    const bool of_deeprec = kind == Kind::kIncrement && info.name.ends_with(kKeysOfDeepRec);
    if (!of_deeprec && !info.name.ends_with(kKeys)) continue;
    if (info.dtype != DType::kInt64 || info.shape.rank() != 1) continue;
    const std::string name =
        info.name.substr(0, info.name.size() - (of_deeprec ? kKeysOfDeepRec.size() : kKeys.size()));
    // Our increments have neither the parts' offsets nor any other tensor by which a table is known.
    const bool of_table = of_deeprec ? reader_->Find(StrCat(name, kDeepRecOffsets)).ok()
                                     : kind == Kind::kIncrement || reader_->Find(name + "-partition_offset").ok();
    if (of_table && reader_->Find(RowTensor(*reader_, name, "values")).ok()) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  std::map<std::string, std::map<int, std::string>> parts;  // by the name of the whole table
  std::map<std::string, std::vector<std::string>> slots;    // by the name of the part
  std::string part;
  for (const std::string& name : found) {
    if (!part.empty() && name.starts_with(part + "/") && !WholeAndPart(name).second.has_value()) {
      slots[part].push_back(name.substr(part.size() + 1));
      continue;
    }
    part = name;
    const auto [whole, number] = WholeAndPart(name);
    parts[whole][number.value_or(0)] = name;
  }
  for (const auto& [whole, numbered] : parts) {
    TableInCheckpoint table{.name = whole};
    for (const auto& [number, name] : numbered) {
      if (number != static_cast<int>(table.parts.size()) && !reader_->Find(StrCat(name, kDeepRecOffsets)).ok()) {
        return DataLoss("checkpoint ", reader_->prefix(), " has no part ", table.parts.size(),
                        " of the growing table '", whole, "'");
      }
      TF_ASSIGN_OR_RETURN(const auto keys, reader_->Find(RowTensor(*reader_, name, "keys")));
      table.rows += keys.shape.dim(0);
      // Checks the numbers of a column. `*dim` is how many a row has; 0 if no part was read yet.
      const auto check = [&](const std::string& column, int64_t* dim) -> Status {
        TF_ASSIGN_OR_RETURN(const auto values, reader_->Find(RowTensor(*reader_, column, "values")));
        if (*dim == 0 && values.shape.rank() == 2) *dim = values.shape.dim(1);
        if (values.dtype == DType::kFloat32 && values.shape == Shape({keys.shape.dim(0), *dim})) return OkStatus();
        return DataLoss("tensor '", column, "-values' of checkpoint ", reader_->prefix(), " is ", values.dtype,
                        values.shape, ", but the table has ", keys.shape.dim(0), " keys and rows of ", *dim,
                        " numbers");
      };
      TF_RETURN_IF_ERROR(check(name, &table.dim));
      for (const std::string& slot : slots[name]) {
        const auto at = std::ranges::find(table.slots, slot) - table.slots.begin();
        if (at == std::ssize(table.slots)) {
          table.slots.push_back(slot);
          table.slot_dims.push_back(0);
        }
        TF_RETURN_IF_ERROR(check(StrCat(name, "/", slot), &table.slot_dims[static_cast<size_t>(at)]));
      }
      const auto frequencies = reader_->Find(RowTensor(*reader_, name, "freqs"));
      table.has_frequencies = table.has_frequencies || (frequencies.ok() && frequencies->shape.num_elements() > 0);
      table.parts.push_back(name);
    }
    tables_.push_back(std::move(table));
  }
  return OkStatus();
}

StatusOr<TableInCheckpoint> SavedTablesReader::Find(const std::string& name) const {
  std::vector<std::string> names;
  for (const TableInCheckpoint& table : tables_) {
    if (table.name == name) return table;
    names.push_back(table.name);
  }
  if (names.empty()) return NotFound("checkpoint ", reader_->prefix(), " has no growing tables");
  const std::string nearest = NearestWord(name, names);
  return NotFound(
      "checkpoint ", reader_->prefix(), " has no growing table '", name, "'",
      nearest.empty() ? StrCat("; it has ", StrJoin(names, ", ")) : StrCat("; did you mean '", nearest, "'?"));
}

Status SavedTablesReader::ForEachRow(const TableInCheckpoint& table, bool slots,
                                     const std::function<Status(const SavedRow&)>& visit) {
  if (increments_.empty()) return ForEachRowHere(table, slots, visit);
  std::set<int64_t> decided;  // keys whose last row was visited, or that a later increment has deleted
  for (auto increment = increments_.rbegin(); increment != increments_.rend(); ++increment) {
    const auto here = std::ranges::find(increment->tables_, table.name, &TableInCheckpoint::name);
    if (here == increment->tables_.end()) continue;
    // A table has the same slots in the order of its full checkpoint.
    if (slots && here->rows > 0 && here->slots != table.slots) {
      return FailedPrecondition("table '", table.name, "' has other slots in increment ", increment->reader_->prefix(),
                                " than in its full checkpoint: leave --slots out");
    }
    TF_RETURN_IF_ERROR(increment->ForEachRowHere(
        *here, slots, [&](const SavedRow& row) { return decided.insert(row.key).second ? visit(row) : OkStatus(); }));
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> deleted, increment->DeletedKeys(*here));
    decided.insert(deleted.begin(), deleted.end());
  }
  return ForEachRowHere(table, slots,
                        [&](const SavedRow& row) { return decided.contains(row.key) ? OkStatus() : visit(row); });
}

StatusOr<int64_t> SavedTablesReader::CountRows(const TableInCheckpoint& table) {
  if (increments_.empty()) return table.rows;
  int64_t rows = 0;
  std::set<int64_t> decided;
  for (auto increment = increments_.rbegin(); increment != increments_.rend(); ++increment) {
    const auto here = std::ranges::find(increment->tables_, table.name, &TableInCheckpoint::name);
    if (here == increment->tables_.end()) continue;
    TF_RETURN_IF_ERROR(increment->ForEachKeyHere(*here, [&](int64_t key) { rows += decided.insert(key).second; }));
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> deleted, increment->DeletedKeys(*here));
    decided.insert(deleted.begin(), deleted.end());
  }
  TF_RETURN_IF_ERROR(ForEachKeyHere(table, [&](int64_t key) { rows += !decided.contains(key); }));
  return rows;
}

Status SavedTablesReader::ForEachKeyHere(const TableInCheckpoint& table,
                                         const std::function<void(int64_t key)>& visit) {
  for (const std::string& part : table.parts) {
    TF_ASSIGN_OR_RETURN(const Tensor keys, reader_->Read(RowTensor(*reader_, part, "keys")));
    for (const int64_t key : keys.data<int64_t>()) visit(key);
  }
  return OkStatus();
}

StatusOr<std::vector<int64_t>> SavedTablesReader::DeletedKeys(const TableInCheckpoint& table) {
  std::vector<int64_t> keys;
  for (const std::string& part : table.parts) {
    const auto found = reader_->Find(part + "-keys_deleted");
    if (absl::IsNotFound(found.status())) continue;
    TF_RETURN_IF_ERROR(found.status());
    if (found->dtype != DType::kInt64) {
      return DataLoss("tensor '", part, "-keys_deleted' of ", reader_->prefix(), " is ", found->dtype, ", not int64");
    }
    TF_ASSIGN_OR_RETURN(const Tensor deleted, reader_->Read(part + "-keys_deleted"));
    keys.insert(keys.end(), deleted.data<int64_t>().begin(), deleted.data<int64_t>().end());
  }
  return keys;
}

Status SavedTablesReader::ForEachRowHere(const TableInCheckpoint& table, bool slots,
                                         const std::function<Status(const SavedRow&)>& visit) {
  const auto dim = static_cast<size_t>(table.dim);
  for (const std::string& part : table.parts) {
    TF_ASSIGN_OR_RETURN(const Tensor keys, reader_->Read(RowTensor(*reader_, part, "keys")));
    const auto rows = keys.data<int64_t>();
    // A tensor with a number for each row; invalid if the checkpoint has none of this shape.
    const auto counts = [&](const char* list) -> StatusOr<Tensor> {
      const std::string name = RowTensor(*reader_, part, list);
      const auto found = reader_->Find(name);
      if (!found.ok() || found->dtype != DType::kInt64 || found->shape != keys.shape()) return Tensor();
      return reader_->Read(name);
    };
    TF_ASSIGN_OR_RETURN(const Tensor versions, counts("versions"));
    TF_ASSIGN_OR_RETURN(const Tensor frequencies, counts("freqs"));
    std::vector<Tensor> columns;
    TF_ASSIGN_OR_RETURN(columns.emplace_back(), reader_->Read(RowTensor(*reader_, part, "values")));
    // The keys of a slot are those of its part, in the same order.
    for (size_t s = 0; slots && s < table.slots.size(); ++s) {
      const std::string slot = StrCat(part, "/", table.slots[s]);
      TF_ASSIGN_OR_RETURN(const Tensor its_keys, reader_->Read(RowTensor(*reader_, slot, "keys")));
      if (its_keys.shape() != keys.shape() || !std::ranges::equal(its_keys.data<int64_t>(), rows)) {
        return Unimplemented("slot '", slot, "' of checkpoint ", reader_->prefix(),
                             " has its rows in another order than its table");
      }
      TF_ASSIGN_OR_RETURN(columns.emplace_back(), reader_->Read(RowTensor(*reader_, slot, "values")));
    }
    for (size_t r = 0; r < rows.size(); ++r) {
      SavedRow row{.key = rows[r], .numbers = columns[0].data<float>().subspan(r * dim, dim)};
      if (versions.is_valid()) row.version = versions.data<int64_t>()[r];
      if (frequencies.is_valid()) row.frequency = frequencies.data<int64_t>()[r];
      for (size_t c = 1; c < columns.size(); ++c) {
        const auto width = static_cast<size_t>(table.slot_dims[c - 1]);
        row.slots.push_back(columns[c].data<float>().subspan(r * width, width));
      }
      TF_RETURN_IF_ERROR(visit(row));
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid
