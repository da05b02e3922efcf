// Removes the files that a save leaves when its process is killed.
#ifndef TENSORBRAID_CHECKPOINT_LEFTOVERS_H_
#define TENSORBRAID_CHECKPOINT_LEFTOVERS_H_

#include <chrono>
#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The files of a save that is still running are never this old, because each file is written without a pause and is
// merged or renamed soon afterwards.
inline constexpr std::chrono::hours kLeftoverAge{1};

// Removes files that are at least kLeftoverAge older than the index of the complete checkpoint `newest`: temporary
// files of the checkpoints "PREFIX" and "PREFIX-STEP", directories with the parts of their sharded saves, and temporary
// files of the file `state_name` ("checkpoint") of the directory. Also removes the data files of a save that was killed
// after it had renamed them and before it had written its index. Other files are never touched. Both times come from
// the same file system, so the clock of this machine does not matter.
//
// `path` is PREFIX: the path of a checkpoint without its step. Returns the number of files that were removed, or the
// first error, after which it removes nothing more. Files that have disappeared meanwhile are no error. Thread-safe;
// blocks for as long as the file system does.
StatusOr<int> RemoveLeftovers(const std::string& path, const std::string& newest, const std::string& state_name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_LEFTOVERS_H_
