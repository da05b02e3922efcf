#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <list>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/commands.h"
#include "cli/tls_tunnel.h"
#include "core/system/peer_user.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "transport/address.h"
#include "transport/token_file.h"

namespace tensorbraid {
namespace {

constexpr size_t kMaxClients = 256;  // each has a thread

struct ProxyFlags {
  int port = 0;
  std::string target;
  TlsOptions tls;
  std::string token_file;
  bool insecure = false;
};

// A client's connection and the thread that serves it.
struct ProxyClient {
  Fd socket;
  std::atomic<bool> ended{false};
  Thread thread;
};

StatusOr<Fd> ListenOnLoopback(int* port) {
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<uint16_t>(*port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(listener.get(), 64) != 0 ||
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot listen on 127.0.0.1:", *port));
  }
  *port = ntohs(at.sin_port);
  return listener;
}

// Serves the clients of this process's user and root, or with `all_users` every client of this machine.
void Accept(const Fd& listener, const HostPort& server, const TlsOptions& tls, const std::string& token, bool all_users,
            std::list<ProxyClient>* clients) {
  clients->remove_if([](ProxyClient& client) {
    if (client.ended) client.thread.Join();
    return client.ended.load();
  });
  Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.is_open()) return;
  if (const Status user = all_users ? OkStatus() : CheckOtherEnd(socket); !user.ok()) {
    TB_LOG(Warning, "proxy") << "turned a client away: " << user.message() << "; to serve all users of this machine, "
                             << "start the proxy with --insecure";
    return;
  }
  if (clients->size() >= kMaxClients) {
    TB_LOG(Warning, "proxy") << "turned a client away: " << kMaxClients << " are connected";
    return;
  }
  ProxyClient& client = clients->emplace_back();
  client.socket = std::move(socket);
  client.thread = Thread("tb-proxy", [&client, server, tls, token] {
    const Status status = RunTlsTunnel(client.socket, server, tls, token);
    if (!status.ok()) {
      TB_LOG(Error, "proxy") << status.message();
    }
    // Tells the client at once, and not only when its descriptor is closed.
    ::shutdown(client.socket.get(), SHUT_RDWR);
    client.ended = true;
  });
}

Status Proxy(const ProxyFlags& flags) {
  sigset_t stop;
  sigemptyset(&stop);
  for (int signal : {SIGINT, SIGTERM}) sigaddset(&stop, signal);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const Fd stopped(::signalfd(-1, &stop, SFD_CLOEXEC));

  const std::string scheme = "grpc://";
  TF_ASSIGN_OR_RETURN(
      const HostPort server,
      ParseHostPort(flags.target.starts_with(scheme) ? flags.target.substr(scheme.size()) : flags.target));
  std::unique_ptr<TokenFile> token;
  if (!flags.token_file.empty()) {
    TF_ASSIGN_OR_RETURN(token, TokenFile::Open("--token_file", flags.token_file));
  }
  if (!flags.tls.enabled()) {
    if (token == nullptr) return InvalidArgument("--tls_ca is missing: the proxy connects to servers with TLS");
    if (!IsLoopbackHost(server.host)) {
      return InvalidArgument("refuses to send the token of --token_file to ", server.ToString(), " without TLS, where ",
                             "others could read it: give --tls_ca, --tls_cert and --tls_key too");
    }
  }
  TF_RETURN_IF_ERROR(CheckTlsFiles(flags.tls));
  int port = flags.port;
  TF_ASSIGN_OR_RETURN(const Fd listener, ListenOnLoopback(&port));
  std::printf("proxy for %s serves at grpc://localhost:%d\n", server.ToString().c_str(), port);
  std::fflush(stdout);

  std::list<ProxyClient> clients;
  pollfd events[] = {{stopped.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
  while (events[0].revents == 0) {
    if (::poll(events, 2, -1) > 0 && events[1].revents != 0) {
      Accept(listener, server, flags.tls, token == nullptr ? "" : token->token(), flags.insecure, &clients);
    }
  }
  for (ProxyClient& client : clients) {
    ::shutdown(client.socket.get(), SHUT_RDWR);
    client.thread.Join();
  }
  return OkStatus();
}

}  // namespace

void AddProxyCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<ProxyFlags>();
  CLI::App* proxy = app.add_subcommand("proxy", "Let TensorFlow's clients on this machine use a server with TLS");
  proxy->add_option("--target", flags->target, "the server, host:port")->required();
  proxy->add_option("--port", flags->port, "the port of 127.0.0.1 to listen on; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  proxy->add_option("--tls_cert", flags->tls.cert, "certificate of this host, if the server asks for one")
      ->type_name("FILE");
  proxy->add_option("--tls_key", flags->tls.key, "private key of --tls_cert")->type_name("FILE");
  proxy->add_option("--tls_ca", flags->tls.ca, "authority that the server's certificate comes from")->type_name("FILE");
  proxy->add_option("--token_file", flags->token_file, "token that the server needs, added to each call")
      ->type_name("FILE");
  proxy->add_flag("--insecure", flags->insecure, "also serve the other users of this machine");
  proxy->footer(
      "\nTensorFlow's clients know neither TLS nor tokens. The proxy listens on loopback and passes their connections\n"
      "to the server, with TLS and the certificate and the token given here, so every process of your user and of "
      "root\n"
      "on this machine can use the server through it. It runs until SIGINT or SIGTERM. The files are read for each "
      "connection.\n\n"
      "Example:\n"
      "  tensorbraid proxy --target=alpha:2223 --port=2223 --tls_cert=certs/beta.pem --tls_key=certs/beta-key.pem \\\n"
      "    --tls_ca=certs/ca.pem\n"
      "  and in the program: tf.compat.v1.Session(\"grpc://localhost:2223\")");
  proxy->callback([flags, invocation] { invocation->run = [flags] { return ExitCode(Proxy(*flags)); }; });
}

}  // namespace tensorbraid
