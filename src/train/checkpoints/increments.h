// The files of increments: checkpoints that hold what has changed since the one before (docs/design/0036).
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_INCREMENTS_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_INCREMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/row_tensors.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Increments are bundles in a directory of their own, so that nobody takes them for full checkpoints:
// "logs/.incremental_checkpoint/model.ckpt-120" follows "logs/model.ckpt-100". The file `checkpoint` in this directory
// lists them, oldest first.
inline constexpr const char* kIncrementDirectory = ".incremental_checkpoint";

// "logs/.incremental_checkpoint/model.ckpt" for "logs/model.ckpt".
std::string IncrementPath(const std::string& path);
// Whether the prefix names an increment.
bool IsIncrement(const std::string& prefix);

// What an increment says about the checkpoints before it, in the tensor kLinkTensor. Names have no directory.
struct IncrementLink {
  std::string full;            // the full checkpoint, in the directory above
  std::string full_id;         // CheckpointId
  std::string predecessor;     // the increment before, in the same directory; the full checkpoint for the first one
  std::string predecessor_id;  // CheckpointId
  int64_t number = 1;          // 1 for the first increment
};
Tensor LinkTensor(const IncrementLink& link);
// NotFound if the bundle does not exist, InvalidArgument if it is no increment of ours, DataLoss if it is damaged.
StatusOr<IncrementLink> ReadLink(const std::string& increment);

// A text that differs for other content of a checkpoint, even under the same prefix.
StatusOr<std::string> CheckpointId(const std::string& prefix);
// The size of its files.
int64_t CheckpointBytes(const std::string& prefix);

// A full checkpoint and the increments that follow it, oldest first. All are prefixes.
struct IncrementChain {
  std::string full;
  std::vector<std::string> increments = {};
  // Whether there is one increment, which DeepRec has saved: it has all that has changed since the full checkpoint.
  bool of_deeprec = false;
  const std::string& newest() const { return increments.empty() ? full : increments.back(); }
};

// The chain to restore for `path`. If this is a full checkpoint: with the increments that follow it. An increment that
// is damaged ends the chain before it, which is logged. If it is an increment: the chain that ends with it. DeepRec's
// increments have no names of predecessors. So, as in DeepRec, the chain is a full checkpoint and the newest increment.
// The number at the end of a name is a step: the increment's step must be later than the full checkpoint's step, and
// the full checkpoint must be the newest of its directory.
// FailedPrecondition, with what to do, if an increment exists whose predecessor is gone or was replaced.
StatusOr<IncrementChain> FindChain(const std::string& path);
// How many increments of the chain, from the oldest on, can be read.
size_t CountReadable(const IncrementChain& chain);

// The increments that the directory of increments lists, oldest first. `path` is a full checkpoint, or its path without
// a step.
std::vector<std::string> ListIncrements(const std::string& path);
// Whether increments are listed in a directory of checkpoints.
bool HasIncrements(const std::string& directory);
// Removes the increments whose full checkpoint does not exist any more.
void RemoveOrphans(const std::string& path);

// "12 rows of growing tables, 3 deleted keys, 4.5 MB": what the files of a checkpoint hold.
std::string ContentText(const std::string& prefix);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_INCREMENTS_H_
