// The environment variable TF_CONFIG, by which launchers tell a TensorFlow program its cluster and its task.
#ifndef TENSORBRAID_CLUSTER_TF_CONFIG_H_
#define TENSORBRAID_CLUSTER_TF_CONFIG_H_

#include <string>

#include "tensorbraid/cluster_spec.h"

namespace tensorbraid {

struct TfConfig {
  ClusterSpec cluster;
  std::string task_type;  // a job of the cluster, unless the writer was mistaken: not checked here
  int task_index = 0;
};

// Reads {"cluster": {"ps": ["h:p"], "worker": {"1": "h:p"}}, "task": {"type": "worker", "index": 0}}. An index may be a
// number or a string of digits; other members are ignored. InvalidArgument says where the text differs from this.
StatusOr<TfConfig> ParseTfConfig(const std::string& text);

// Reads the cluster alone: the object at "cluster" above.
StatusOr<ClusterSpec> ParseClusterJson(const std::string& text);

// The text that ParseTfConfig reads back.
std::string ToTfConfigJson(const TfConfig& config);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TF_CONFIG_H_
