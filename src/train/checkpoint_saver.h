// Checkpoints of a training: saved by a hook, restored at the start.
#ifndef TENSORBRAID_TRAIN_CHECKPOINT_SAVER_H_
#define TENSORBRAID_TRAIN_CHECKPOINT_SAVER_H_

#include <string>

#include "tensorbraid/saver.h"

namespace tensorbraid {

// Restores the latest checkpoint in `directory`; if that one is damaged or missing, the latest before it that is
// usable. Returns false when the directory has no checkpoint, and DataLoss when it names checkpoints of which none
// exists or all are damaged. From then on `saver` manages the existing checkpoints, unless it manages some already.
StatusOr<bool> RestoreLatest(Saver& saver, Session& session, const std::string& directory);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINT_SAVER_H_
