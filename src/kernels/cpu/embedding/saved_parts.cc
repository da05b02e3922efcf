#include "kernels/cpu/embedding/saved_parts.h"

#include <algorithm>
#include <array>

#include "checkpoint/changed_rows.h"
#include "checkpoint/row_tensors.h"
#include "core/text/strings.h"
#include "runtime/tables/table_rows.h"

namespace tensorbraid::cpu {
namespace {

// What follows the name of a table in the names of the parts that tell a table from a variable.
constexpr std::array<const char*, 2> kFirstParts = {"", "/part_0"};

bool HasKeys(BundleReader& reader, const std::string& table) {
  return std::ranges::any_of(kFirstParts,
                             [&](const char* part) { return reader.Find(StrCat(table, part, "-keys")).ok(); });
}

// Whether an increment of DeepRec's has rows of a table or of a variable under this name.
bool HasRowsOfDeepRec(BundleReader& reader, const std::string& name) {
  return reader.Find(StrCat(name, kDeepRecRows, "keys")).ok();
}

}  // namespace

std::string NameOfColumn(const std::string& part, const std::string& slot) {
  return slot.empty() ? part : StrCat(part, "/", slot);
}

StatusOr<int64_t> RowsIn(BundleReader& reader, const std::string& tensor, DType dtype, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(const auto info, reader.Find(tensor));
  if (info.dtype == dtype && shape.IsCompatibleWith(info.shape)) return info.shape.dim(0);
  return InvalidArgument("tensor '", tensor, "' of checkpoint ", reader.prefix(), " is ", info.dtype, info.shape,
                         ", but the growing table needs ", dtype, shape);
}

StatusOr<std::vector<SavedPart>> FindSavedParts(BundleReader& reader, const std::string& name,
                                                const std::vector<std::string>& slots, std::span<const int64_t> widths,
                                                bool may_lack_parts) {
  std::vector<SavedPart> parts;
  if (reader.Find(name + "-keys").ok() || HasRowsOfDeepRec(reader, name)) {
    parts.push_back({.name = name});
  } else {
    for (int i = 0; i < kSmallTables; ++i) {
      const std::string part = StrCat(name, "/part_", i);
      const auto found = reader.Find(RowTensor(reader, part, "keys"));
      if (!found.ok() && found.status().code() != absl::StatusCode::kNotFound) return found.status();
      if (!found.ok() && !may_lack_parts) break;
      if (!found.ok()) continue;
      parts.push_back({.name = part});
    }
  }
  if (parts.empty()) {
    if (may_lack_parts) return parts;
    return NotFound("checkpoint ", reader.prefix(), " has no growing table '", name, "': it has neither '", name,
                    "-keys' nor '", name, "/part_0-keys'");
  }
  for (SavedPart& part : parts) {
    for (size_t c = 0; c < slots.size(); ++c) {
      const std::string& slot = slots[c];
      const std::string of = NameOfColumn(part.name, slot);
      TF_ASSIGN_OR_RETURN(const int64_t rows,
                          RowsIn(reader, RowTensor(reader, of, "keys"), kInt64, Shape({Shape::kUnknownDim})));
      TF_RETURN_IF_ERROR(RowsIn(reader, RowTensor(reader, of, "values"), kFloat32, Shape({rows, widths[c]})).status());
      if (slot.empty()) part.rows = rows;
    }
    const auto versions = reader.Find(RowTensor(reader, part.name, "versions"));
    part.has_versions = versions.ok() && versions->dtype == kInt64 && versions->shape == Shape({part.rows});
    const auto freqs = reader.Find(RowTensor(reader, part.name, "freqs"));
    part.has_freqs = freqs.ok() && freqs->dtype == kInt64 && freqs->shape == Shape({part.rows});
  }
  return parts;
}

bool IsOfDeepRec(BundleReader& increment, const std::string& table) {
  return !increment.Find(kLinkTensor).ok() && !HasKeys(increment, table);
}

StatusOr<bool> HasVariable(BundleReader& reader, const std::string& table) {
  if (reader.Find(table).ok()) return true;
  if (HasKeys(reader, table)) return false;
  TF_ASSIGN_OR_RETURN(const auto tensors, reader.List());
  return !FindChangedRows(tensors, table).empty();
}

Status CheckIsFull(BundleReader& reader, const std::string& table) {
  const bool has_rows_of_deeprec =
      std::ranges::any_of(kFirstParts, [&](const char* part) { return HasRowsOfDeepRec(reader, table + part); });
  if (!has_rows_of_deeprec && !reader.Find(kLinkTensor).ok()) return OkStatus();
  return InvalidArgument("'", reader.prefix(), "' is an increment, and holds only those rows of growing table '", table,
                         "' that have changed: name its full checkpoint, or restore it by a saver with ",
                         "SaverOptions::incremental (in Python, incremental_save_restore=True)");
}

}  // namespace tensorbraid::cpu
