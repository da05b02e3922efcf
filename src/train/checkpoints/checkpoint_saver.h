// Checkpoints of a training: saved by a hook, restored at the start.
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_CHECKPOINT_SAVER_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_CHECKPOINT_SAVER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tensorbraid/train/saver.h"

namespace tensorbraid {

// Restores the latest checkpoint in `directory` that is whole; logs an error for each later one that is not. Returns
// false if the directory has no checkpoint, and DataLoss if its file `checkpoint` names some but each is missing or
// damaged. If that file itself is damaged, tries the checkpoints that are there, the newest first. From then on `saver`
// manages the existing checkpoints, unless it manages some already.
StatusOr<bool> RestoreLatest(Saver& saver, Session& session, const std::string& directory);

// Saves a checkpoint to `path` ("logs/model.ckpt") and returns its prefix. A training goes on without a checkpoint that
// could not be written: the error is logged, and the result is "". Only these errors are returned: Unavailable, Aborted
// and Cancelled, which mean that the session has ended; and all as long as the directory has no checkpoint, because a
// training that cannot save should not begin.
StatusOr<std::string> SaveOrGoOn(Saver& saver, Session& session, const std::string& path, std::optional<int64_t> step);
// Saves a checkpoint and returns its prefix, or the error of writing it.
StatusOr<std::string> SaveAndLog(Saver& saver, Session& session, const std::string& path, std::optional<int64_t> step);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_CHECKPOINT_SAVER_H_
