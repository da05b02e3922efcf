// Replaces the file "checkpoint" of a directory, which names its latest checkpoint.
#ifndef TENSORBRAID_CHECKPOINT_STATE_FILE_H_
#define TENSORBRAID_CHECKPOINT_STATE_FILE_H_

#include <functional>
#include <string>

#include "tensorbraid/checkpoint/checkpoint.h"

namespace tensorbraid {

// As UpdateCheckpointState, but first calls `is_allowed`, which reads the current file and may forbid to replace it.
// Returns the error of `is_allowed`.
//
// A process can be stopped for any time between `is_allowed` and the renaming of its new file. When it continues, it
// must not replace a file that another process has written meanwhile. So each process writes a temporary file, and then
// removes the temporary files of all other processes, which can then no longer rename them. The calls of this function
// in these processes ask `is_allowed` again or return Aborted. If another process renamed its file first, this call
// asks `is_allowed` again and writes once more.
//
// This works between processes that use this function. UpdateCheckpointState replaces the file whatever it holds.
// Thread-safe; blocks for as long as the file system does.
Status ReplaceCheckpointState(const std::string& directory, const CheckpointState& state,
                              const std::string& latest_filename, const std::function<Status()>& is_allowed);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_STATE_FILE_H_
