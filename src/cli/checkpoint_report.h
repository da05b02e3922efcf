// Makes the texts that `tensorbraid inspect checkpoint` prints.
#ifndef TENSORBRAID_CLI_CHECKPOINT_REPORT_H_
#define TENSORBRAID_CLI_CHECKPOINT_REPORT_H_

#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The prefix of a checkpoint that a user names by its prefix ("logs/model-100"), by one of its files
// ("logs/model-100.index"), or by a directory, which stands for its latest checkpoint. NotFound when the checkpoint
// does not exist; the message lists the directory's checkpoints.
StatusOr<std::string> ResolveCheckpoint(const std::string& path);

// A line for each tensor: name, dtype, shape, bytes. DataLoss if the index is damaged.
StatusOr<std::string> DescribeCheckpoint(const std::string& prefix);

// One tensor with its range, mean and first `max_elements` values. NotFound suggests the nearest name.
StatusOr<std::string> DescribeTensor(const std::string& prefix, const std::string& name, int max_elements);

struct CheckpointComparison {
  std::string text;  // describes the differences
  bool equal = true;
};
// Compares two checkpoints: finds tensors that only one of them has, different shapes or dtypes, and different values
// with the largest difference. Reads all tensors of the two checkpoints, one at a time.
StatusOr<CheckpointComparison> CompareCheckpoints(const std::string& first, const std::string& second);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_CHECKPOINT_REPORT_H_
