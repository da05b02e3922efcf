#include "cluster/server/server_config.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include "cluster/protobuf/config.pb.h"
#include "core/text/strings.h"
#include "runtime/kernel/device.h"

namespace tensorbraid {
namespace {

// Keeps the first error.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  void AddWarning(int, int, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

StatusOr<ServerConfig> ParseServerConfig(const std::string& text) {
  proto::ConfigProto config;
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.AllowUnknownField(true);
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text, &config)) {
    return InvalidArgument("cannot parse the configuration as a ConfigProto in text format: ", error.text());
  }
  ServerConfig result;
  for (const auto& [type, count] : config.device_count()) {
    // A count is an upper bound, so counts of device types that do not exist here have no effect.
    if (FindDeviceType(type) != nullptr) result.device_count[type] = count;
  }
  result.inter_op_threads = config.inter_op_parallelism_threads();
  result.session_config = config.SerializeAsString();
  return result;
}

}  // namespace tensorbraid
