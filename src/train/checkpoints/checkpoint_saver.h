// Saves checkpoints during a training run, and restores the latest one at its start. The hook that saves them is
// CheckpointSaver (tensorbraid/train/hooks.h).
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_CHECKPOINT_SAVER_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_CHECKPOINT_SAVER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tensorbraid/train/saver.h"

namespace tensorbraid {

// Restores the latest complete checkpoint in `directory`, and logs an error for each later one that is damaged. Returns
// false if the directory has no checkpoint, and DataLoss if its file `checkpoint` names checkpoints that are all
// missing or damaged. If the file `checkpoint` itself is damaged, tries the checkpoints in the directory, the newest
// first. From then on `saver` manages the existing checkpoints, unless it already manages some.
StatusOr<bool> RestoreLatest(Saver& saver, Session& session, const std::string& directory);

// Saves a checkpoint, or an increment, to `path` ("logs/model.ckpt") and returns its prefix. If the checkpoint cannot
// be written, logs the error and returns "", so that training continues without it. Two kinds of errors are returned:
// Unavailable, Aborted and Cancelled, which mean that the session has ended; and any error while the directory has no
// checkpoint yet, because a training run that cannot save should not begin.
StatusOr<std::string> SaveOrGoOn(Saver& saver, Session& session, const std::string& path, std::optional<int64_t> step,
                                 bool write_meta_graph = true, bool increment = false);
// Saves a checkpoint, or an increment, and returns its prefix, or the error of writing it. Logs what was saved.
StatusOr<std::string> SaveAndLog(Saver& saver, Session& session, const std::string& path, std::optional<int64_t> step,
                                 bool write_meta_graph = true, bool increment = false);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_CHECKPOINT_SAVER_H_
