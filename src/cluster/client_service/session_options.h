// The options that a session takes from its client's ConfigProto.
//
// As in TensorFlow, device_count and the numbers of threads have no effect here: the server takes them from its own
// configuration. infer_shapes has no effect either, because shapes are always inferred. Without place_pruned_graph, the
// devices of all nodes of the graph must exist, not only those of the nodes that are run.
#ifndef TENSORBRAID_CLUSTER_CLIENT_SERVICE_SESSION_OPTIONS_H_
#define TENSORBRAID_CLUSTER_CLIENT_SERVICE_SESSION_OPTIONS_H_

#include "cluster/master/master_session.h"

namespace tensorbraid {

namespace proto {
class ConfigProto;
}

// InvalidArgument if a device filter is not a device name.
StatusOr<MasterSessionOptions> SessionOptionsFrom(const proto::ConfigProto& config);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_CLIENT_SERVICE_SESSION_OPTIONS_H_
