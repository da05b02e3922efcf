#include "checkpoint/changed_rows.h"

#include "absl/strings/numbers.h"

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

}  // namespace tensorbraid
