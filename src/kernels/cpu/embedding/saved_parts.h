// Where the rows of a growing table are in a checkpoint, in an increment, or in an increment of DeepRec's.
#ifndef TENSORBRAID_KERNELS_CPU_EMBEDDING_SAVED_PARTS_H_
#define TENSORBRAID_KERNELS_CPU_EMBEDDING_SAVED_PARTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/bundle_reader.h"

namespace tensorbraid::cpu {

// One part of a saved table, or the whole of it.
struct SavedPart {
  std::string name;  // "a/b/emb" or "a/b/emb/part_0"
  int64_t rows = 0;
  bool has_versions = false, has_freqs = false;
};

// The name of a slot of a part; "" is the part itself.
std::string NameOfColumn(const std::string& part, const std::string& slot);

// NotFound if the checkpoint has no tensor of this name, InvalidArgument if it has another dtype or shape. Unknown
// sizes of `shape` match any size. Returns the number of rows.
StatusOr<int64_t> RowsIn(BundleReader& reader, const std::string& tensor, DType dtype, const Shape& shape);

// Looks for the table `name` and its slots in a checkpoint, and checks the dtypes and shapes of their tensors. `widths`
// has the width of each slot; the slot "" is the table itself. With `may_lack_parts`, which is for increments of
// DeepRec's, there may be none of them.
StatusOr<std::vector<SavedPart>> FindSavedParts(BundleReader& reader, const std::string& name,
                                                const std::vector<std::string>& slots, std::span<const int64_t> widths,
                                                bool may_lack_parts);

// Whether an increment is one of DeepRec's: it has no link to what is before it.
bool IsOfDeepRec(BundleReader& increment, const std::string& table);
// Whether a static variable was saved in place of the table, as a whole or, in an increment, its changed rows.
StatusOr<bool> HasVariable(BundleReader& reader, const std::string& table);
// InvalidArgument if a checkpoint, which is to have all rows of a table, is an increment.
Status CheckIsFull(BundleReader& reader, const std::string& table);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_EMBEDDING_SAVED_PARTS_H_
