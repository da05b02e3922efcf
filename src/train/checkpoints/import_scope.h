// Puts the nodes of a GraphDef into a name scope.
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_IMPORT_SCOPE_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_IMPORT_SCOPE_H_

#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The serialized GraphDef with `prefix`, such as "copy/", before the names of all nodes, also where inputs and
// colocations name them, and before the frames of loops. Returns the same bytes if the prefix is empty, and
// InvalidArgument if they are not a GraphDef.
StatusOr<std::string> GraphDefInScope(std::string_view graph_def, const std::string& prefix);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_IMPORT_SCOPE_H_
