// Errors that know which node of the graph they are about.
#ifndef TENSORBRAID_GRAPH_NODE_STATUS_H_
#define TENSORBRAID_GRAPH_NODE_STATUS_H_

#include <string>

#include "graph/node.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

// `status` about `node`: notes the node's name, unless one is noted already. Of a node that the runtime put in for what
// takes a tensor (_Retval, _Send) it is the name of the node that gives the tensor. OK stays OK.
Status AboutNode(Status status, const Node& node);
// The same, with the node's description put before the message.
Status AtNode(const Status& status, const Node& node);
// What AboutNode has noted, here or in another task; "" when nothing has been.
std::string NodeNameOf(const Status& status);
// Notes a name that has come as text.
void NoteNodeName(const std::string& name, Status* status);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_NODE_STATUS_H_
