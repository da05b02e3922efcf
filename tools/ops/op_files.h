// The files of the source tree that follow from the registered ops.
#ifndef TENSORBRAID_TOOLS_OPS_OP_FILES_H_
#define TENSORBRAID_TOOLS_OPS_OP_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The texts of docs/ops.md and of the headers of raw_ops, keyed by path in the source tree.
std::map<std::string, std::string> OpFiles();

// Writes a file, unless it has this text already: then it stays as it is, so that nothing is compiled again without
// need. Returns whether it was written, or the error of writing it.
StatusOr<bool> WriteIfChanged(const std::string& path, const std::string& text);

// Writes those of them that are missing or not up to date in a source tree, and returns their paths there.
// InvalidArgument if the directory is no source tree of Tensorbraid; errors of writing a file.
StatusOr<std::vector<std::string>> UpdateOpFiles(const std::string& tree);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TOOLS_OPS_OP_FILES_H_
