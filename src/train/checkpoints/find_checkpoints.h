// Finds checkpoints without the file `checkpoint`, which lists them.
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_FIND_CHECKPOINTS_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_FIND_CHECKPOINTS_H_

#include <string>
#include <vector>

namespace tensorbraid {

// The prefixes of the checkpoints, or increments, of a directory by the names of their files, for a directory whose
// list is damaged. The newest is last.
std::vector<std::string> FindCheckpoints(const std::string& directory);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_FIND_CHECKPOINTS_H_
