// Checkpoints of a training: when they are written, and how it begins with one.
#ifndef TENSORBRAID_TRAIN_CHECKPOINT_SAVER_H_
#define TENSORBRAID_TRAIN_CHECKPOINT_SAVER_H_

#include <string>

#include "tensorbraid/saver.h"

namespace tensorbraid {

// Restores the last checkpoint in `directory`, or, when that one is damaged or gone, the last before it that is not.
// False when there is none at all; DataLoss when all are damaged. `saver` manages those that are there from then on.
StatusOr<bool> RestoreLatest(Saver& saver, Session& session, const std::string& directory);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINT_SAVER_H_
