// The ops of this build as a document.
#ifndef TENSORBRAID_CLI_OPS_DOCUMENT_H_
#define TENSORBRAID_CLI_OPS_DOCUMENT_H_

#include <string>

namespace tensorbraid {

// Markdown: a table per family, one line per op, from the registries of ops and kernels. docs/ops.md is this text. What
// only the executor uses (names with an underscore in front) is left out.
std::string OpsDocument();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_OPS_DOCUMENT_H_
