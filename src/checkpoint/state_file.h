// Replaces the file "checkpoint" of a directory, which names its latest checkpoint.
#ifndef TENSORBRAID_CHECKPOINT_STATE_FILE_H_
#define TENSORBRAID_CHECKPOINT_STATE_FILE_H_

#include <functional>
#include <string>

#include "tensorbraid/train/checkpoint.h"

namespace tensorbraid {

// As UpdateCheckpointState, but only while `is_allowed` returns OK, which reads the file as it is and may refuse to
// replace it. Returns its error.
//
// A process can be stopped for any time between `is_allowed` and the renaming of its new file. It must not replace what
// another process has written meanwhile. So a process that has written its file removes the temporary files of all
// others: what they have not renamed yet cannot be renamed any more. Their call is Aborted, or asks `is_allowed` again.
// If one of them was faster, this call asks `is_allowed` and writes once more.
//
// This holds among processes that use this function. UpdateCheckpointState replaces the file whatever it holds.
// Thread-safe; blocks for as long as the file system does.
Status ReplaceCheckpointState(const std::string& directory, const CheckpointState& state,
                              const std::string& latest_filename, const std::function<Status()>& is_allowed);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_STATE_FILE_H_
