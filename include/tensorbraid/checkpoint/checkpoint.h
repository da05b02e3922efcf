// Checkpoints: the values of variables in files, in TensorFlow's format (tensor bundles). TensorFlow reads our
// checkpoints and we read TensorFlow's. Saver (train/saver.h) writes and restores them.
#ifndef TENSORBRAID_CHECKPOINT_CHECKPOINT_H_
#define TENSORBRAID_CHECKPOINT_CHECKPOINT_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// A checkpoint is named by a prefix such as "logs/model-1000". Its files are the prefix followed by ".index" and by
// ".data-…". A checkpoint of version 1, which old programs wrote, is one file of this name, or several that a pattern
// names ("model-?????-of-00003"). It can be read and removed.

// Whether a checkpoint with this prefix exists. Source: tf.train.checkpoint_exists.
bool CheckpointExists(const std::string& prefix);
// Removes the checkpoint's files and the graph (".meta") beside them. OK when they do not exist.
Status RemoveCheckpoint(const std::string& prefix);

// The content of a directory's "checkpoint" file, which lists the checkpoints in the directory.
struct CheckpointState {
  using Timestamp = std::chrono::sys_time<std::chrono::duration<double>>;
  std::string model_checkpoint_path = "";                       // the latest one
  std::vector<std::string> all_model_checkpoint_paths = {};     // oldest first, including the latest
  std::vector<Timestamp> all_model_checkpoint_timestamps = {};  // when they were saved; one per path, or empty
  Timestamp last_preserved_timestamp = {};                      // when the last one that is kept forever was saved
};
// Relative paths in the file are joined with the directory, so the returned paths can be opened. NotFound when the file
// does not exist, DataLoss when it is damaged. Source: tf.train.get_checkpoint_state.
StatusOr<CheckpointState> GetCheckpointState(const std::string& directory,
                                             const std::string& latest_filename = "checkpoint");
// Replaces the file atomically. Paths inside the directory are written relative to it, so that the directory can be
// moved.
Status UpdateCheckpointState(const std::string& directory, const CheckpointState& state,
                             const std::string& latest_filename = "checkpoint");

// The prefix of the latest checkpoint in the directory. NotFound when the directory has no file `latest_filename` or
// the checkpoint that it names does not exist. Source: tf.train.latest_checkpoint.
StatusOr<std::string> LatestCheckpoint(const std::string& directory, const std::string& latest_filename = "checkpoint");

// Reads the tensors of one checkpoint, written by Tensorbraid or TensorFlow. Not thread-safe.
// Source: tf.train.load_checkpoint.
class CheckpointReader {
 public:
  // NotFound when the checkpoint does not exist, DataLoss when it is damaged.
  static StatusOr<std::unique_ptr<CheckpointReader>> Open(const std::string& prefix);
  ~CheckpointReader();
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;

  struct TensorInfo {
    std::string name;
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  // Sorted by name. The parts of a partitioned variable are listed as one tensor.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  bool HasTensor(const std::string& name) const;
  // NotFound when the checkpoint has no such tensor; DataLoss when its bytes do not match their checksum.
  StatusOr<Tensor> GetTensor(const std::string& name);

 private:
  struct Impl;
  explicit CheckpointReader(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
  std::vector<TensorInfo> tensors_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_CHECKPOINT_H_
