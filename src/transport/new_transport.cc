#include "transport/new_transport.h"

#include <utility>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "transport/address.h"
#include "transport/local/local_transport.h"
#include "transport/ucx/ucx_transport.h"

namespace tensorbraid {
namespace {

StatusOr<std::unique_ptr<Transport>> NewBestTransport(bool loopback_only, const GrpcOptions& options) {
  auto transport = NewGrpcTransport(options);
  if (HasRdmaDevice() && options.tls.enabled()) {
    TB_LOG(Info, "transport") << "this task does not use RDMA by itself, because TLS would not protect it; protocol "
                                 "'grpc+ucx' uses it";
  } else if (HasRdmaDevice()) {
    if (auto context = UcxContext::Create(loopback_only); context.ok()) {
      transport = NewUcxTransport(std::move(transport), *std::move(context), {.leave_neighbours = true});
    } else {
      TB_LOG(Warning, "transport") << "this machine has a device for RDMA, which is not used: "
                                   << context.status().message();
    }
  }
  return NewLocalTransport(std::move(transport));
}

}  // namespace

bool IsUcxProtocol(std::string_view protocol) {
  return protocol == "grpc+ucx" || protocol == "grpc+verbs" || protocol == "grpc+gdr";
}

StatusOr<std::unique_ptr<Transport>> NewTransport(const std::string& protocol, const std::string& host,
                                                  const GrpcOptions& options) {
  const bool loopback_only = IsLoopbackHost(options.bind_address.empty() ? host : options.bind_address);
  if (protocol.empty()) return NewBestTransport(loopback_only, options);
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
  return NewUcxTransport(NewGrpcTransport(options), std::move(context));
}

}  // namespace tensorbraid
