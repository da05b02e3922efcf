// The files of the source tree that follow from the registered ops.
#ifndef TENSORBRAID_CLI_OP_FILES_H_
#define TENSORBRAID_CLI_OP_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The texts of docs/ops.md, of the headers of raw_ops and of the calls that test them, keyed by path in the source
// tree.
std::map<std::string, std::string> OpFiles();

// Writes those of them that are missing or not up to date in a source tree, and returns their paths there.
// InvalidArgument if the directory is no source tree of Tensorbraid; errors of writing a file.
StatusOr<std::vector<std::string>> UpdateOpFiles(const std::string& tree);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_OP_FILES_H_
