// Errors on their way between a master and its clients, as TensorFlow writes them.
#ifndef TENSORBRAID_CLUSTER_CLIENT_ERRORS_H_
#define TENSORBRAID_CLUSTER_CLIENT_ERRORS_H_

#include <string>

#include "tensorbraid/status.h"

namespace tensorbraid {

// The error with "\n\t [[{{node NAME}}]]" behind its message when it is about a node, from which TensorFlow's clients
// find the op; in UTF-8. OK stays OK.
Status ToClientError(const Status& status);
// Our own clients keep the message as it was, and know the node: the opposite.
Status FromClientError(const Status& status);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_CLIENT_ERRORS_H_
