// Converts errors between our form and the one that TensorFlow's clients expect.
#ifndef TENSORBRAID_CLUSTER_CLIENT_SERVICE_CLIENT_ERRORS_H_
#define TENSORBRAID_CLUSTER_CLIENT_SERVICE_CLIENT_ERRORS_H_

#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// If the error is about a node, appends "\n\t [[{{node NAME}}]]" to the message: TensorFlow's clients find the op in
// this suffix. Uses TensorFlow's error code where it differs from ours (WithTensorFlowCode). The result is valid UTF-8.
// OK stays OK.
Status ToClientError(const Status& status);
// The inverse of ToClientError, for our own clients: removes the suffix, records the node in the status and restores
// our code.
Status FromClientError(const Status& status);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_CLIENT_SERVICE_CLIENT_ERRORS_H_
