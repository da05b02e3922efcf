// The environment variable TF_CONFIG, in which launchers give a TensorFlow program its cluster and its task.
#ifndef TENSORBRAID_CLUSTER_SPEC_TF_CONFIG_H_
#define TENSORBRAID_CLUSTER_SPEC_TF_CONFIG_H_

#include <string>

#include "tensorbraid/cluster/cluster_spec.h"

namespace tensorbraid {

struct TfConfig {
  ClusterSpec cluster;
  std::string task_type;  // should be a job of the cluster; the parser does not check this
  int task_index = 0;
};

// Parses {"cluster": {"ps": ["h:p"], "worker": {"1": "h:p"}}, "task": {"type": "worker", "index": 0}}. An index may be
// a number or a string of digits. Other members are ignored. InvalidArgument names the wrong part of the text.
StatusOr<TfConfig> ParseTfConfig(const std::string& text);

// Parses only a cluster: an object like the value of "cluster" above.
StatusOr<ClusterSpec> ParseClusterJson(const std::string& text);

// The inverse of ParseTfConfig.
std::string ToTfConfigJson(const TfConfig& config);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SPEC_TF_CONFIG_H_
