// Documents the ops of this build.
#ifndef TENSORBRAID_CLI_OPS_DOCUMENT_H_
#define TENSORBRAID_CLI_OPS_DOCUMENT_H_

#include <string>
#include <vector>

#include "graph/model/op_registry.h"

namespace tensorbraid {

// A Markdown document with a table per family of ops and a line per op, made from the registries of ops and kernels.
// At its end are the ops that are missing, grouped by reason (tensorflow_ops.h). docs/ops.md is this text. The tables
// leave out ops that only the executor uses, whose names begin with an underscore.
std::string OpsDocument();

// The ops of the tables, in order of name.
std::vector<const OpDef*> DocumentedOps();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_OPS_DOCUMENT_H_
