// The names of the tensors with rows in checkpoints and in increments, ours and DeepRec's.
#ifndef TENSORBRAID_CHECKPOINT_ROW_TENSORS_H_
#define TENSORBRAID_CHECKPOINT_ROW_TENSORS_H_

#include <string>
#include <string_view>

#include "checkpoint/bundle_reader.h"

namespace tensorbraid {

// The tensor that makes a checkpoint an increment of ours: train/checkpoints/increments.h says what is in it.
inline constexpr const char* kLinkTensor = "_increment/link";

// An increment of DeepRec's has, for each part P of a growing table and for each slot of it, P-sparse_incr_keys,
// -values, -versions and -freqs with the rows that have changed since the last full checkpoint, and
// P-incr_partition_offset. It has neither deleted keys nor those that are not admitted. A part that has not changed may
// be missing. A static variable V is in it as a whole, or as V-sparse_incr_keys, the numbers of the changed rows (int32
// or int64), and V-sparse_incr_values; a variable in parts then has such tensors for each part, V/part_0 and so on,
// with numbers that count within the part.
inline constexpr std::string_view kDeepRecRows = "-sparse_incr_";
inline constexpr std::string_view kDeepRecOffsets = "-incr_partition_offset";

// The name of the tensor with a list of a part of a growing table, such as "keys": "emb-keys", or
// "emb-sparse_incr_keys" if the checkpoint has that one only.
std::string RowTensor(BundleReader& reader, std::string_view part, std::string_view list);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_ROW_TENSORS_H_
