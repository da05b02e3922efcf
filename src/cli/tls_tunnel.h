// Passes the bytes of a client's plain connection to a server over a connection with TLS, a token, or both.
#ifndef TENSORBRAID_CLI_TLS_TUNNEL_H_
#define TENSORBRAID_CLI_TLS_TUNNEL_H_

#include <string>

#include "core/system/fd.h"
#include "core/text/host_port.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

// Connects to the gRPC server at `server`, with TLS if `tls` is enabled, and passes bytes between it and the socket
// `client`, in both directions, until one of them ends its connection or shutdown() is called on the socket. Blocks
// until then. Returns the error if the server cannot be reached or its certificate is not accepted; without TLS, also
// if it belongs to another user (ConnectToOwnUser). The files of `tls` are read each time. Adds `token` to each call of
// the client, unless it is empty. Makes `client` non-blocking. REQUIRES: the process ignores SIGPIPE.
Status RunTlsTunnel(const Fd& client, const HostPort& server, const TlsOptions& tls, const std::string& token);

// Returns the first error in the files of `tls`, which RunTlsTunnel would return for each client.
Status CheckTlsFiles(const TlsOptions& tls);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_TLS_TUNNEL_H_
