#include "transport/new_transport.h"

#include <utility>
#include <vector>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "transport/address.h"
#include "transport/local/local_kind.h"
#include "transport/side_lane/side_lane_transport.h"
#include "transport/ucx/ucx_kind.h"

namespace tensorbraid {
namespace {

// The side lanes for protocol "".
std::vector<std::shared_ptr<LaneKind>> BestLanes(bool loopback_only, const GrpcOptions& options) {
  std::vector<std::shared_ptr<LaneKind>> kinds = {NewLocalKind()};
  if (HasRdmaDevice() && options.tls.enabled()) {
    TB_LOG(Info, "transport") << "this task does not use RDMA, because TLS would not protect it; to use RDMA all the "
                                 "same, choose protocol 'grpc+ucx'";
  } else if (HasRdmaDevice()) {
    if (auto context = UcxContext::Create(loopback_only); context.ok()) {
      kinds.push_back(NewUcxKind(*std::move(context)));
    } else {
      TB_LOG(Warning, "transport") << "this machine has a device for RDMA, which is not used: "
                                   << context.status().message();
    }
  }
  return kinds;
}

}  // namespace

bool IsUcxProtocol(std::string_view protocol) {
  return protocol == "grpc+ucx" || protocol == "grpc+verbs" || protocol == "grpc+gdr";
}

StatusOr<std::unique_ptr<Transport>> NewTransport(const std::string& protocol, const std::string& host,
                                                  const GrpcOptions& options) {
  const bool loopback_only = IsLoopbackHost(options.bind_address.empty() ? host : options.bind_address);
  if (protocol.empty()) return NewSideLaneTransport(NewGrpcTransport(options), BestLanes(loopback_only, options));
  if (protocol == "grpc") return NewGrpcTransport(options);
  if (!IsUcxProtocol(protocol)) {
    return InvalidArgument("protocol '", protocol, "' does not exist; use 'grpc', 'grpc+ucx', or '' for the best one");
  }
  TF_ASSIGN_OR_RETURN(auto context, UcxContext::Create(loopback_only));
  if (options.tls.enabled()) {
    TB_LOG(Warning, "transport") << "protocol '" << protocol
                                 << "': tensors between tasks are not encrypted; TLS protects clients and the first "
                                    "message of each connection only";
  }
  return NewSideLaneTransport(NewGrpcTransport(options), {NewUcxKind(std::move(context))});
}

}  // namespace tensorbraid
