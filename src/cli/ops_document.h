// Documents the ops of this build.
#ifndef TENSORBRAID_CLI_OPS_DOCUMENT_H_
#define TENSORBRAID_CLI_OPS_DOCUMENT_H_

#include <string>

namespace tensorbraid {

// A Markdown document with a table per family of ops and a line per op, made from the registries of ops and kernels.
// docs/ops.md is this text. Ops that only the executor uses, whose names begin with an underscore, are left out.
std::string OpsDocument();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_OPS_DOCUMENT_H_
