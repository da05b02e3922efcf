// Errors that carry the name of the node that they are about.
#ifndef TENSORBRAID_GRAPH_MODEL_NODE_STATUS_H_
#define TENSORBRAID_GRAPH_MODEL_NODE_STATUS_H_

#include <string>

#include "graph/model/node.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Returns `status` with the name and the op of `node` attached, unless a name is attached already. If the runtime added
// `node` to consume a tensor (_Retval, _Send), attaches the name of the node that produces this tensor. OK stays OK.
Status AboutNode(Status status, const Node& node);
// Like AboutNode, and also puts the description of the node before the message. An error of a node in a cluster already
// has the description of that node, and stays as it is.
Status AtNode(const Status& status, const Node& node);
// Returns the name that AboutNode attached, in this or another task; "" if none is attached.
std::string NodeNameOf(const Status& status);
// Returns the type of the op of the node at which AboutNode was called first ("_Recv"); "" if none is attached.
std::string OpTypeOf(const Status& status);
// Attaches a node name, for example one received from another task. Replaces a name attached before.
void NoteNodeName(const std::string& name, Status* status);

// Attaches the code that TensorFlow uses for this error, where it differs from ours.
Status WithTensorFlowCode(Status status, absl::StatusCode code);
// Returns the code that WithTensorFlowCode attached, or else the status's own.
absl::StatusCode TensorFlowCodeOf(const Status& status);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_NODE_STATUS_H_
