// What a GraphDef asks for that there is not.
#ifndef TENSORBRAID_GRAPH_MISSING_OPS_H_
#define TENSORBRAID_GRAPH_MISSING_OPS_H_

#include "graph/function.h"

namespace tensorbraid {

namespace proto {
class GraphDef;
}  // namespace proto

// OK when every op of the nodes, and of the functions of `library` that they reach, is an op or a function. Otherwise
// NotFound, which names all that are missing at once, each with a node that uses it (and the function of that node) and
// how many more do; the message stays short enough for a client to be told.
Status CheckOpsExist(const proto::GraphDef& def, const FunctionLibrary& library);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MISSING_OPS_H_
