// Turns the files of TlsOptions into credentials of gRPC, and gRPC's connection errors into ours.
#ifndef TENSORBRAID_TRANSPORT_GRPC_CREDENTIALS_H_
#define TENSORBRAID_TRANSPORT_GRPC_CREDENTIALS_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

// Both functions return credentials without encryption if `tls` is not enabled. Otherwise a thread looks for changed
// files once a second for as long as the credentials exist. The other side's certificate is always verified, except
// that a server without a `ca` does not ask for one. InvalidArgument, naming the flag, if a file is missing in `tls` or
// contains no certificate or private key, or if other users can read the key; the system's error if a file cannot be
// read. Whether key and certificate belong together shows only when the first connection fails.
StatusOr<std::shared_ptr<grpc::ServerCredentials>> NewServerCredentials(const TlsOptions& tls);
StatusOr<std::shared_ptr<grpc::ChannelCredentials>> NewChannelCredentials(const TlsOptions& tls);

// A channel with a connection of its own. The certificate of the server must be for the host of `address`
// ("host:port"). "localhost" connects to 127.0.0.1, the address that a server with that name binds.
std::shared_ptr<grpc::Channel> NewGrpcChannel(const std::string& address,
                                              const std::shared_ptr<grpc::ChannelCredentials>& credentials);

// How gRPC's text for a call begins that it never sent, because no connection could be opened.
inline constexpr char kConnectErrorPrefix[] = "failed to connect to all addresses";
// Whether this is gRPC's text for a call that it never sent, because no connection could be opened.
bool IsConnectError(std::string_view text);
// The error to report when gRPC could not connect. Unauthenticated if a new attempt would fail in the same way: the
// server's certificate was not accepted here, or the server does not use TLS. Otherwise Unavailable. `what` names the
// attempt ("no task answers at alpha:2222"), `tls` is what this side used, and `text` is gRPC's.
Status ConnectError(const std::string& what, const TlsOptions& tls, std::string_view text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CREDENTIALS_H_
