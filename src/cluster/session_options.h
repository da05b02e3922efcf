// What a session takes from the ConfigProto that its client sends.
//
// device_count and the numbers of threads belong to the server, which takes them from its own configuration, and so
// they do nothing here, as in TensorFlow. infer_shapes neither: shapes are always inferred. Without place_pruned_graph
// devices must exist for the whole graph, not only for what is run.
#ifndef TENSORBRAID_CLUSTER_SESSION_OPTIONS_H_
#define TENSORBRAID_CLUSTER_SESSION_OPTIONS_H_

#include "cluster/master.h"

namespace tensorbraid {

namespace proto {
class ConfigProto;
}

// InvalidArgument for a device filter that is no device name.
StatusOr<MasterSessionOptions> SessionOptionsFrom(const proto::ConfigProto& config);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SESSION_OPTIONS_H_
