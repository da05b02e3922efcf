// Makes a CallClient (calls.h) that sends calls over gRPC.
#ifndef TENSORBRAID_TRANSPORT_GRPC_CALL_CLIENT_H_
#define TENSORBRAID_TRANSPORT_GRPC_CALL_CLIENT_H_

#include <chrono>
#include <memory>
#include <string>

#include "tensorbraid/transport/tls_options.h"
#include "transport/calls.h"

namespace tensorbraid {

// Calls the server at `address` ("host:port") over one connection, which is opened by the first call and reopened when
// it is lost. A call fails with Unavailable when the server cannot be reached within `patience`, and at once with
// Unauthenticated when the server's certificate is not accepted or the server does not use TLS and `tls` does. An error
// in the files of `tls` is returned here (see credentials.h). Calls carry the token in the file `token_file`, or none
// if it is empty (token_file.h); a token that others could read on the way is refused with InvalidArgument. Without
// `tls`, a server on loopback must belong to this process's user or root (own_user.h): otherwise calls fail with
// Unauthenticated, and nothing is sent, unless `insecure` is true.
StatusOr<std::unique_ptr<CallClient>> NewGrpcCallClient(const std::string& address, std::chrono::milliseconds patience,
                                                        const TlsOptions& tls = {}, const std::string& token_file = "",
                                                        bool insecure = false);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CALL_CLIENT_H_
