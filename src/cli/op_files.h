// The files of the source tree that follow from the registered ops.
#ifndef TENSORBRAID_CLI_OP_FILES_H_
#define TENSORBRAID_CLI_OP_FILES_H_

#include <map>
#include <string>

namespace tensorbraid {

// The texts of docs/ops.md, of the headers of raw_ops and of the calls that test them, keyed by path in the source
// tree.
std::map<std::string, std::string> OpFiles();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_OP_FILES_H_
