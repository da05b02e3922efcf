#include "cli/tls_tunnel.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/http2_header_adder.h"
#include "core/system/peer_user.h"
#include "core/system/secret_file.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using ContextPtr = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using SslPtr = std::unique_ptr<SSL, decltype(&SSL_free)>;

std::string SslErrorText() {
  const auto error = ERR_peek_last_error();
  const char* reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  ERR_clear_error();
  return reason != nullptr ? reason : "the connection was closed";
}

StatusOr<ContextPtr> NewContext(const TlsOptions& tls) {
  ContextPtr context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (context == nullptr) return Internal("cannot use TLS: ", SslErrorText());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  const bool has_authority = tls.ca.empty()
                                 ? SSL_CTX_set_default_verify_paths(context.get()) == 1
                                 : SSL_CTX_load_verify_locations(context.get(), tls.ca.c_str(), nullptr) == 1;
  if (!has_authority) return InvalidArgument("--tls_ca: cannot use the file '", tls.ca, "': ", SslErrorText());
  if (tls.cert.empty() && tls.key.empty()) return context;
  if (SSL_CTX_use_certificate_chain_file(context.get(), tls.cert.c_str()) != 1) {
    return InvalidArgument("--tls_cert: cannot use the file '", tls.cert, "': ", SslErrorText());
  }
  TF_RETURN_IF_ERROR(CheckIsSecret("--tls_key", tls.key));
  if (SSL_CTX_use_PrivateKey_file(context.get(), tls.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return InvalidArgument("--tls_key: cannot use the file '", tls.key, "': ", SslErrorText());
  }
  return context;
}

Status MakeNonBlocking(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) == 0) return OkStatus();
  return absl::ErrnoToStatus(errno, "cannot make a socket non-blocking");
}

StatusOr<Fd> ConnectTo(const HostPort& server) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(server.host.c_str(), std::to_string(server.port).c_str(), &hints, &found)) {
    return Unavailable(gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  int why = 0;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    Fd fd(::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol));
    const timeval patience{.tv_sec = 10, .tv_usec = 0};  // for connecting and for the handshake
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (fd.is_open() && ::connect(fd.get(), a->ai_addr, a->ai_addrlen) == 0) return fd;
    why = errno;
  }
  return Unavailable(std::strerror(why));
}

// The bytes that one direction has read and not written yet.
struct Pending {
  std::array<char, 64 << 10> bytes;
  std::string changed;    // `bytes` with the added headers, if there are any
  std::string_view rest;  // of `bytes` or of `changed`
};

// Moves bytes between a client's socket and a server's, which may have TLS, without blocking, on one thread.
class Tunnel {
 public:
  // `ssl` may be null: then bytes go over `server` as they are.
  Tunnel(int client, int server, SSL* ssl, const std::string& token) : client_(client), server_(server), ssl_(ssl) {
    if (!token.empty()) adder_.emplace("authorization", "Bearer " + token);
  }

  // Returns when either side has ended or failed.
  void Run() {
    while (true) {
      // Each step moves at most one buffer; when none can move any, waits for the sockets.
      bool moved = false;
      client_wants_ = server_wants_ = 0;
      if (!ReadClient(&moved) || !WriteServer(&moved) || !ReadServer(&moved) || !WriteClient(&moved)) return;
      if (moved) continue;
      pollfd events[] = {{client_, client_wants_, 0}, {server_, server_wants_, 0}};
      if (::poll(events, 2, -1) < 0) {
        if (errno != EINTR) return;
        continue;
      }
      // poll() also reports a lost connection for which no event was requested, again and again.
      for (const pollfd& event : events) {
        if (event.events == 0 && event.revents != 0) return;
      }
    }
  }

 private:
  // Each of these functions moves what it can without blocking. It sets `*moved` if it has moved bytes. If it
  // would block, it adds the event that it waits for to the events of poll(). It returns false when its side has ended.
  bool ReadClient(bool* moved) {
    if (!to_server_.rest.empty()) return true;
    if (!Read(client_, &client_wants_, &to_server_, moved)) return false;
    if (adder_.has_value() && !to_server_.rest.empty()) {
      to_server_.changed.clear();
      adder_->Pass(to_server_.rest, &to_server_.changed);
      to_server_.rest = to_server_.changed;
    }
    return true;
  }
  bool WriteClient(bool* moved) { return Write(client_, &client_wants_, &to_client_, moved); }
  bool ReadServer(bool* moved) {
    if (!to_client_.rest.empty()) return true;
    if (ssl_ == nullptr) return Read(server_, &server_wants_, &to_client_, moved);
    size_t n = 0;
    if (SSL_read_ex(ssl_, to_client_.bytes.data(), to_client_.bytes.size(), &n) != 1) return SslWouldBlock();
    to_client_.rest = {to_client_.bytes.data(), n};
    *moved = true;
    return true;
  }
  bool WriteServer(bool* moved) {
    if (to_server_.rest.empty()) return true;
    if (ssl_ == nullptr) return Write(server_, &server_wants_, &to_server_, moved);
    size_t n = 0;
    if (SSL_write_ex(ssl_, to_server_.rest.data(), to_server_.rest.size(), &n) != 1) return SslWouldBlock();
    to_server_.rest.remove_prefix(n);
    *moved = true;
    return true;
  }

  static bool Read(int socket, short* wants, Pending* into, bool* moved) {
    const ssize_t n = ::recv(socket, into->bytes.data(), into->bytes.size(), 0);
    if (n == 0) return false;
    if (n < 0) return WouldBlock(POLLIN, wants);
    into->rest = {into->bytes.data(), static_cast<size_t>(n)};
    *moved = true;
    return true;
  }
  static bool Write(int socket, short* wants, Pending* from, bool* moved) {
    if (from->rest.empty()) return true;
    const ssize_t n = ::send(socket, from->rest.data(), from->rest.size(), MSG_NOSIGNAL);
    if (n < 0) return WouldBlock(POLLOUT, wants);
    from->rest.remove_prefix(static_cast<size_t>(n));
    *moved = true;
    return true;
  }
  static bool WouldBlock(short event, short* wants) {
    if (errno != EAGAIN && errno != EINTR) return false;
    *wants = static_cast<short>(*wants | event);
    return true;
  }
  // With TLS, a read may first have to write, and a write may first have to read.
  bool SslWouldBlock() {
    const int error = SSL_get_error(ssl_, 0);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
    server_wants_ = static_cast<short>(server_wants_ | (error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT));
    return true;
  }

  const int client_;
  const int server_;
  SSL* const ssl_;
  std::optional<Http2HeaderAdder> adder_;
  short client_wants_ = 0, server_wants_ = 0;  // events of poll()
  Pending to_server_, to_client_;
};

// Makes a TLS connection over `socket`, and checks that the other side is `server`.
Status TlsHandshake(SSL* ssl, const HostPort& server, const Fd& socket) {
  unsigned char address[sizeof(in6_addr)];
  const char* host = server.host.c_str();
  const bool is_ip = inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
  const unsigned char http2[] = {2, 'h', '2'};
  const bool named =
      ssl != nullptr && (is_ip ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
                               : SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1);
  if (!named || SSL_set_alpn_protos(ssl, http2, sizeof http2) != 0 || SSL_set_fd(ssl, socket.get()) != 1) {
    return Internal("cannot use TLS: ", SslErrorText());
  }
  if (SSL_connect(ssl) != 1) {
    const auto verified = SSL_get_verify_result(ssl);
    return absl::UnauthenticatedError(
        StrCat("TLS connection to ", server.ToString(), ": ",
               verified != X509_V_OK
                   ? std::string("the server's certificate is not accepted: ") + X509_verify_cert_error_string(verified)
                   : SslErrorText()));
  }
  return OkStatus();
}

}  // namespace

Status CheckTlsFiles(const TlsOptions& tls) { return NewContext(tls).status(); }

Status RunTlsTunnel(const Fd& client, const HostPort& server, const TlsOptions& tls, const std::string& token) {
  TF_ASSIGN_OR_RETURN(const ContextPtr context, NewContext(tls));
  // Without TLS the server is on loopback. A server of another user is refused, because it would receive the token.
  auto socket = tls.enabled() ? ConnectTo(server) : ConnectToOwnUser(server, std::chrono::seconds(10));
  if (!socket.ok()) return Annotate(socket.status(), "no server answers at " + server.ToString());
  const SslPtr ssl(tls.enabled() ? SSL_new(context.get()) : nullptr, SSL_free);
  if (tls.enabled()) TF_RETURN_IF_ERROR(TlsHandshake(ssl.get(), server, *socket));
  TF_RETURN_IF_ERROR(MakeNonBlocking(client.get()));
  TF_RETURN_IF_ERROR(MakeNonBlocking(socket->get()));
  ERR_clear_error();
  std::make_unique<Tunnel>(client.get(), socket->get(), ssl.get(), token)->Run();
  return OkStatus();
}

}  // namespace tensorbraid
