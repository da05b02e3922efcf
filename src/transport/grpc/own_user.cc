#include "transport/grpc/own_user.h"

#include <fcntl.h>
#include <grpcpp/create_channel_posix.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

#include "core/system/peer_user.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"
#include "transport/address.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/settings.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::milliseconds kConnectingTime{1000};

}  // namespace

std::string WhyRefused() {
  return StrCat("the server runs as user ", ::geteuid(), " and serves this user and root only, and the kernel must ",
                "name the caller's user, which it cannot do across user namespaces; to serve others, start the ",
                "server with --token_file, with --tls_cert, --tls_key and --tls_ca, or, if all users of the machine ",
                "are trusted, with --insecure");
}

bool IsForOwnUser(const std::string& address, const TlsOptions& tls, bool insecure) {
  if (tls.enabled() || insecure) return false;
  const auto where = ParseHostPort(address);
  return where.ok() && IsLoopbackHost(where->host);
}

bool OwnUserConnection::IsLost() const {
  pollfd event{socket.get(), POLLRDHUP, 0};
  return ::poll(&event, 1, 0) != 0;
}

bool OwnUserConnection::HasAnswered() const {
  constexpr uint64_t kLeastBytes = 9;  // of HTTP/2's greeting; an alert of TLS has fewer
  return BytesReceived(socket) >= kLeastBytes;
}

StatusOr<OwnUserConnection> ConnectForOwnUser(const std::string& address) {
  TF_ASSIGN_OR_RETURN(const HostPort where, ParseHostPort(address));
  auto socket = ConnectToOwnUser(where, kConnectingTime);
  if (absl::IsUnavailable(socket.status())) {
    return Unavailable(kConnectErrorPrefix, ": ", socket.status().message());
  }
  if (absl::IsPermissionDenied(socket.status())) {
    return absl::UnauthenticatedError(
        StrCat("refuses to use the server at ", address, ": ", socket.status().message(), ", and this process runs as ",
               "user ", ::geteuid(), "; to use servers of other users, use TLS (--tls_ca), or, if all users of the ",
               "machine are trusted, --insecure (a program: SessionOptions::insecure)"));
  }
  TF_RETURN_IF_ERROR(socket);
  OwnUserConnection connection;
  connection.socket = Fd(::fcntl(socket->get(), F_DUPFD_CLOEXEC, 0));
  if (!connection.socket.is_open()) {
    return Unavailable(kConnectErrorPrefix, ": ", absl::ErrnoToStatus(errno, "no file is left").message());
  }
  connection.channel = grpc::CreateCustomInsecureChannelFromFd(address, socket->Release(), ClientChannelArguments());
  return connection;
}

}  // namespace tensorbraid
