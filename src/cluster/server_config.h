// What a server reads from a ConfigProto.
#ifndef TENSORBRAID_CLUSTER_SERVER_CONFIG_H_
#define TENSORBRAID_CLUSTER_SERVER_CONFIG_H_

#include <map>
#include <string>

#include "tensorbraid/status.h"

namespace tensorbraid {

struct ServerConfig {
  std::map<std::string, int> device_count;
  int inter_op_threads = 0;
  std::string session_config;  // the message in binary form
};

// Reads the text form; fields that we do not know are ignored. InvalidArgument says where the text is wrong.
StatusOr<ServerConfig> ParseServerConfig(const std::string& text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SERVER_CONFIG_H_
