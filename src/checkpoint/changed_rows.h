// How an increment holds the rows of a variable that have changed (docs/design/0036).
#ifndef TENSORBRAID_CHECKPOINT_CHANGED_ROWS_H_
#define TENSORBRAID_CHECKPOINT_CHANGED_ROWS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/bundle_reader.h"
#include "core/text/strings.h"

namespace tensorbraid {

// A variable whose rows are updated has two tensors in an increment, and so has each part of it: the numbers of the
// rows that have changed (int64 [n], counted in the whole variable), and their values ([n, ...]). If there are no
// numbers, but values, these are all rows of the part. `first_row` is the number of the first row of the part.
inline constexpr std::string_view kChangedRows = "-changed_rows-";
inline constexpr std::string_view kChangedValues = "-changed_values-";
inline std::string ChangedRowsName(std::string_view variable, int64_t first_row) {
  return StrCat(variable, kChangedRows, first_row);
}
inline std::string ChangedValuesName(std::string_view variable, int64_t first_row) {
  return StrCat(variable, kChangedValues, first_row);
}

// The changed rows of a part of a variable in an increment.
struct ChangedRowsOfPart {
  std::string numbers, values;  // the names of the tensors
  int64_t first_row = 0;        // of the part
  bool within_part = false;     // whether the numbers count from `first_row` on, as DeepRec's do
};
// What an increment of ours has of the variable; nothing if it has all of it, or none. `tensors` are those of the
// increment.
std::vector<ChangedRowsOfPart> FindChangedRows(const std::vector<BundleReader::Info>& tensors,
                                               std::string_view variable);
// As FindChangedRows, for an increment of DeepRec's. `full` is the checkpoint before it, in which the parts of the
// variable are slices.
StatusOr<std::vector<ChangedRowsOfPart>> FindChangedRowsOfDeepRec(const std::vector<BundleReader::Info>& tensors,
                                                                  std::string_view variable, BundleReader& full);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_CHANGED_ROWS_H_
