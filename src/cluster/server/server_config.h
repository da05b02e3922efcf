// The options that a server takes from a ConfigProto.
#ifndef TENSORBRAID_CLUSTER_SERVER_SERVER_CONFIG_H_
#define TENSORBRAID_CLUSTER_SERVER_SERVER_CONFIG_H_

#include <map>
#include <string>

#include "tensorbraid/core/gpu_options.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct ServerConfig {
  std::map<std::string, int> device_count;
  GpuOptions gpu_options;
  int inter_op_threads = 0;
  std::string session_config;  // the whole ConfigProto, serialized
};

// Parses the text format. Unknown fields are ignored. InvalidArgument names the line and column of an error.
StatusOr<ServerConfig> ParseServerConfig(const std::string& text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SERVER_SERVER_CONFIG_H_
