// An HTTP server that slow clients cannot hold up.
#ifndef TENSORBRAID_CLUSTER_STATUS_HTTP_SERVER_H_
#define TENSORBRAID_CLUSTER_STATUS_HTTP_SERVER_H_

// The options that Debian's library was compiled with.
#define CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_ZLIB_SUPPORT
#define CPPHTTPLIB_BROTLI_SUPPORT
#include <httplib.h>
#include <openssl/ssl.h>

#include <chrono>
#include <deque>
#include <memory>
#include <string>

#include "core/threads/mutex.h"

namespace tensorbraid {

struct HttpLimits {
  // Of threads, which are made when all others are busy. Each works on one connection at a time.
  int threads = 64;
  // The time until a client has set up TLS and its request has arrived, and until it has read the answer. Its
  // connection is closed then.
  std::chrono::milliseconds request{5000};
  std::chrono::milliseconds answer{20000};
};

// The connections whose threads wait for their clients, to send a request or to read an answer. Thread-safe.
class WaitingConnections {
 public:
  void Add(int socket);
  void Remove(int socket);  // no effect if it is not there
  // Makes the oldest of them fail, so that its thread becomes free; or all of them, and those that are added later.
  void FailOldest();
  void FailAll();

 private:
  Mutex mu_;
  std::deque<int> sockets_ TB_GUARDED_BY(mu_);
  bool all_fail_ TB_GUARDED_BY(mu_) = false;
};

// httplib's server with other connections and threads. httplib bounds the time of each read, so a client that sends a
// byte now and then has a thread for as long as it likes. Here the time of the whole request is bounded. If all threads
// are busy when a client connects, the one that has waited longest for its client gives up its connection. So only
// handlers that take long keep others waiting.
class HttpServer final : public httplib::Server {
 public:
  // With `tls`, serves HTTPS. `checks_users`: IsForStranger tells clients of other users of this machine.
  HttpServer(std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> tls, const HttpLimits& limits, bool checks_users);

  // Binds to the port, or to any free one if it is 0, and listens. The port, or -1.
  int Bind(const std::string& host, int port);
  // Whether the request that this thread handles comes from this machine, but not from this process's user or root
  // (CheckOtherEnd in peer_user.h). Call from handlers.
  static bool IsForStranger() { return is_for_stranger_; }

 private:
  bool process_and_close_socket(socket_t socket) override;

  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> tls_;
  const HttpLimits limits_;
  const bool checks_users_;
  WaitingConnections waiting_;
  static thread_local bool is_for_stranger_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_HTTP_SERVER_H_
