// Finds the ops that a GraphDef uses but this build does not have.
#ifndef TENSORBRAID_GRAPH_FORMAT_MISSING_OPS_H_
#define TENSORBRAID_GRAPH_FORMAT_MISSING_OPS_H_

#include "graph/functions/function.h"

namespace tensorbraid {

namespace proto {
class GraphDef;
}  // namespace proto

// Checks that every op of the nodes, and of the functions of `library` that the nodes refer to, is a registered op or a
// function. If not, returns NotFound with a list of the missing ops. For each op, the list has one node that uses it
// (with its function) and the number of other uses. The message is limited to a size that transports can deliver to a
// client.
Status CheckOpsExist(const proto::GraphDef& def, const FunctionLibrary& library);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FORMAT_MISSING_OPS_H_
