// Chooses the transport of a server by the name of its protocol.
#ifndef TENSORBRAID_TRANSPORT_NEW_TRANSPORT_H_
#define TENSORBRAID_TRANSPORT_NEW_TRANSPORT_H_

#include <memory>
#include <string>
#include <string_view>

#include "transport/grpc/grpc_transport.h"
#include "transport/transport.h"

namespace tensorbraid {

// Whether the protocol of this name is UCX: "grpc+ucx", or TensorFlow's names "grpc+verbs" and "grpc+gdr".
bool IsUcxProtocol(std::string_view protocol);

// gRPC connects the tasks and serves clients with every protocol. `protocol` says how else two tasks may
// communicate if both support it:
//   ""          the best that both have: shared memory on one machine; UCX where this machine has a device for RDMA and
//               TLS is not used
//   "grpc"      nothing else
//   "grpc+ucx"  UCX, over RDMA or, without it, over TCP; the other names of IsUcxProtocol mean the same
// InvalidArgument for another name, FailedPrecondition if the protocol needs UCX and UCX cannot be used, for example
// because it is not installed. `host` is the host name in the address at which the server will listen.
StatusOr<std::unique_ptr<Transport>> NewTransport(const std::string& protocol, const std::string& host,
                                                  const GrpcOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_NEW_TRANSPORT_H_
