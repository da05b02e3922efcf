#include "cluster/server/server_config.h"

#include "cluster/protobuf/config.pb.h"
#include "graph/format/text_proto.h"
#include "runtime/kernel/device.h"

namespace tensorbraid {

StatusOr<ServerConfig> ParseServerConfig(const std::string& text) {
  proto::ConfigProto config;
  TF_RETURN_IF_ERROR(ParseTextProto(text, "a ConfigProto", &config));
  ServerConfig result;
  for (const auto& [type, count] : config.device_count()) {
    // A count is an upper bound, so counts of device types that do not exist here have no effect.
    if (FindDeviceType(type) != nullptr) result.device_count[type] = count;
  }
  result.gpu_options = {.per_process_gpu_memory_fraction = config.gpu_options().per_process_gpu_memory_fraction(),
                        .allow_growth = config.gpu_options().allow_growth(),
                        .visible_device_list = config.gpu_options().visible_device_list()};
  result.inter_op_threads = config.inter_op_parallelism_threads();
  result.session_config = config.SerializeAsString();
  return result;
}

}  // namespace tensorbraid
