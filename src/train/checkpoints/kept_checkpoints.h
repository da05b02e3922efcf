// The checkpoints of a directory that a Saver manages.
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_KEPT_CHECKPOINTS_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_KEPT_CHECKPOINTS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensorbraid/checkpoint/checkpoint.h"

namespace tensorbraid {

// Records the checkpoints that a Saver has written or taken over, and removes old ones. Not thread-safe. Paths are
// absolute.
class KeptCheckpoints {
 public:
  // The arguments mean the same as SaverOptions::max_to_keep and SaverOptions::keep_checkpoint_every.
  KeptCheckpoints(int max_to_keep, std::chrono::milliseconds keep_every);

  // Adds a checkpoint that has been written to `directory`, and makes it the latest one in the directory's file
  // `latest_filename`. If `keep_later_step`, the step of this checkpoint, is given, and the file names a checkpoint of
  // a later step that another process has written, returns Aborted and leaves the file as it is.
  Status Add(const std::string& path, const std::string& directory, const std::string& latest_filename,
             std::optional<int64_t> keep_later_step);
  // Removes the oldest checkpoints beyond max_to_keep, except those that are kept forever.
  void RemoveOld();
  // Takes over checkpoints that an earlier process has written, oldest first, and forgets its own. Ignores
  // checkpoints that do not exist.
  void Recover(const std::vector<std::string>& paths);
  // Oldest first.
  std::vector<std::string> paths() const;

 private:
  struct Kept {
    std::string path;
    CheckpointState::Timestamp time;
  };

  CheckpointState State() const;
  // Aborted if the latest checkpoint is of a later step and another process has written it.
  Status CheckNoLaterStep(const std::string& directory, const std::string& latest_filename, int64_t step) const;

  const int max_to_keep_;
  const std::chrono::milliseconds keep_every_;
  std::vector<Kept> kept_;                     // oldest first
  CheckpointState::Timestamp next_preserved_;  // the next old checkpoint that is newer than this is kept forever
  CheckpointState::Timestamp last_preserved_;  // the time of the last checkpoint that was kept forever
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_KEPT_CHECKPOINTS_H_
