// A client's calls over gRPC.
#ifndef TENSORBRAID_TRANSPORT_GRPC_CALL_CLIENT_H_
#define TENSORBRAID_TRANSPORT_GRPC_CALL_CLIENT_H_

#include <chrono>
#include <memory>
#include <string>

#include "transport/calls.h"

namespace tensorbraid {

// Calls the server at `address` ("host:port"), over one connection that is made with the first call, and made again
// when it is lost. A call whose server cannot be reached within `patience` is Unavailable.
std::unique_ptr<CallClient> NewGrpcCallClient(const std::string& address, std::chrono::milliseconds patience);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CALL_CLIENT_H_
