#include "checkpoint/changed_rows.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "checkpoint/row_tensors.h"

namespace tensorbraid {

std::vector<ChangedRowsOfPart> FindChangedRows(const std::vector<BundleReader::Info>& tensors,
                                               std::string_view variable) {
  const std::string prefix = StrCat(variable, kChangedRows);
  std::vector<ChangedRowsOfPart> found;
  for (const BundleReader::Info& info : tensors) {
    int64_t first = 0;
    if (!info.name.starts_with(prefix) || !absl::SimpleAtoi(info.name.substr(prefix.size()), &first)) continue;
    found.push_back({.numbers = info.name, .values = ChangedValuesName(variable, first), .first_row = first});
  }
  return found;
}

StatusOr<std::vector<ChangedRowsOfPart>> FindChangedRowsOfDeepRec(const std::vector<BundleReader::Info>& tensors,
                                                                  std::string_view variable, BundleReader& full) {
  const std::string keys = StrCat(kDeepRecRows, "keys"), values = StrCat(kDeepRecRows, "values");
  std::vector<ChangedRowsOfPart> found;
  std::vector<int64_t> first_rows;  // of the parts
  for (const BundleReader::Info& info : tensors) {
    if (!info.name.starts_with(variable) || !info.name.ends_with(keys)) continue;
    const std::string part = info.name.substr(0, info.name.size() - keys.size());
    const std::string prefix = StrCat(variable, "/part_");
    ChangedRowsOfPart rows = {.numbers = info.name, .values = part + values, .within_part = true};
    size_t number = 0;
    if (part.starts_with(prefix) && absl::SimpleAtoi(part.substr(prefix.size()), &number)) {
      if (first_rows.empty()) {
        TF_ASSIGN_OR_RETURN(const auto slices, full.Slices(variable));
        for (const TensorSlice& slice : slices) first_rows.push_back(slice.rank() > 0 ? slice.extent(0).start : 0);
        std::sort(first_rows.begin(), first_rows.end());
      }
      if (number >= first_rows.size()) {
        return InvalidArgument("an increment of DeepRec has rows of '", part, "', but checkpoint ", full.prefix(),
                               " has '", variable, "' in ", first_rows.size(), " parts");
      }
      rows.first_row = first_rows[number];
    } else if (part != variable) {
      continue;
    }
    found.push_back(std::move(rows));
  }
  return found;
}

}  // namespace tensorbraid
