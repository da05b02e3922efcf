// Checkpoints: the values of variables in files, in TensorFlow's format (tensor bundles), which goes both ways.
// Saver (saver.h) writes and restores them.
#ifndef TENSORBRAID_CHECKPOINT_H_
#define TENSORBRAID_CHECKPOINT_H_

#include <memory>
#include <string>
#include <vector>

#include "tensorbraid/status.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

// A checkpoint is named by a prefix, "logs/model-1000"; its files are the prefix with ".index" and ".data-…" behind it.

// Whether there is a checkpoint of this prefix. Source: tf.train.checkpoint_exists.
bool CheckpointExists(const std::string& prefix);
// Removes its files, and the graph (".meta") beside them. OK when there are none.
Status RemoveCheckpoint(const std::string& prefix);

// What the file "checkpoint" of a directory says of the checkpoints in it.
struct CheckpointState {
  std::string model_checkpoint_path = "";                    // the last one
  std::vector<std::string> all_model_checkpoint_paths = {};  // oldest first, the last one too
  std::vector<double> all_model_checkpoint_timestamps = {};  // seconds since 1970; as many as paths, or none
  double last_preserved_timestamp = 0;                       // of the last one that is kept for good
};
// Paths come back as they can be opened: those that the file says relative to the directory are joined with it.
// NotFound when there is no such file, DataLoss when it is damaged. Source: tf.train.get_checkpoint_state.
StatusOr<CheckpointState> GetCheckpointState(const std::string& directory,
                                             const std::string& latest_filename = "checkpoint");
// Replaces the file at once. Paths that lie in the directory are written relative to it, so that it can be moved.
Status UpdateCheckpointState(const std::string& directory, const CheckpointState& state,
                             const std::string& latest_filename = "checkpoint");

// The prefix of the last checkpoint in the directory. NotFound when there is none: no file that says which it is, or
// the one that it names is gone. Source: tf.train.latest_checkpoint.
StatusOr<std::string> LatestCheckpoint(const std::string& directory, const std::string& latest_filename = "checkpoint");

// Reads the tensors of one checkpoint, whoever wrote it. Not thread-safe. Source: tf.train.load_checkpoint.
class CheckpointReader {
 public:
  // NotFound when there is none, DataLoss when it is damaged.
  static StatusOr<std::unique_ptr<CheckpointReader>> Open(const std::string& prefix);
  ~CheckpointReader();
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;

  struct TensorInfo {
    std::string name;
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  // By name; the parts of a partitioned variable are one tensor.
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  bool HasTensor(const std::string& name) const;
  // NotFound when there is no such tensor; DataLoss when its bytes are not those that were written.
  StatusOr<Tensor> GetTensor(const std::string& name);

 private:
  struct Impl;
  explicit CheckpointReader(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
  std::vector<TensorInfo> tensors_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_H_
