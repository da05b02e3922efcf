// Removes what saves that were killed have left.
#ifndef TENSORBRAID_CHECKPOINT_LEFTOVERS_H_
#define TENSORBRAID_CHECKPOINT_LEFTOVERS_H_

#include <chrono>
#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A file of a save that is still running is never so old: each of them is written without a pause, and joined or
// renamed soon after.
inline constexpr std::chrono::hours kLeftoverAge{1};

// Removes the temporary files, and the directories of the parts of sharded saves, of checkpoints "PREFIX" and
// "PREFIX-STEP" that are at least kLeftoverAge older than the index of the complete checkpoint `newest`. The two times
// come from the same file system, so the clock of this machine does not matter. If such a save was killed after it had
// given its data files their names, and before it had an index, they are removed too. So are old temporary files of the
// file `state_name` ("checkpoint") of the directory. Other names are never touched.
//
// `path` is PREFIX: the path of a checkpoint without its step. Returns the number of files that were removed, and the
// first error. Files that have disappeared meanwhile are no error. Thread-safe; blocks for as long as the file system
// does.
StatusOr<int> RemoveLeftovers(const std::string& path, const std::string& newest, const std::string& state_name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_LEFTOVERS_H_
