#include "cluster/status/http_server.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/system/clock.h"
#include "core/system/fd.h"
#include "core/system/peer_user.h"
#include "core/threads/thread.h"

namespace tensorbraid {
namespace {

using SslPtr = std::unique_ptr<SSL, decltype(&SSL_free)>;

// A connection that fails when its client takes too long.
class HttpConnection final : public httplib::Stream {
 public:
  HttpConnection(int socket, const HttpLimits& limits, WaitingConnections* waiting)
      : socket_(socket), limits_(limits), waiting_(waiting), deadline_(MonotonicClock::now() + limits.request) {
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    waiting_->Add(socket);
  }
  ~HttpConnection() override {
    if (ssl_ != nullptr && is_set_up_) SSL_shutdown(ssl_.get());
    ERR_clear_error();
    waiting_->Remove(socket_.get());
    ::shutdown(socket_.get(), SHUT_RDWR);
  }

  // False for a client of another user of this machine.
  bool IsOfOwnUser() const { return CheckOtherEnd(socket_).ok(); }
  // Whether the client has set up TLS.
  bool SetUpTls(SSL_CTX* context) {
    ssl_.reset(SSL_new(context));
    if (ssl_ == nullptr || SSL_set_fd(ssl_.get(), socket_.get()) != 1) return false;
    is_set_up_ = Try([this] { return SSL_accept(ssl_.get()); }) == 1;
    return is_set_up_;
  }
  // The request has arrived, and is being answered.
  void OnRequest() { waiting_->Remove(socket_.get()); }

  ssize_t read(char* data, size_t size) override {
    return Try([&]() -> ssize_t {
      if (ssl_ != nullptr) return SSL_read(ssl_.get(), data, static_cast<int>(std::min(size, kMostBytes)));
      return ::recv(socket_.get(), data, size, 0);
    });
  }
  ssize_t write(const char* data, size_t size) override {
    if (!std::exchange(is_answering_, true)) {
      deadline_ = MonotonicClock::now() + limits_.answer;
      waiting_->Remove(socket_.get());
      waiting_->Add(socket_.get());
    }
    return Try([&]() -> ssize_t {
      if (ssl_ != nullptr) return SSL_write(ssl_.get(), data, static_cast<int>(std::min(size, kMostBytes)));
      return ::send(socket_.get(), data, size, MSG_NOSIGNAL);
    });
  }
  bool is_readable() const override { return (ssl_ != nullptr && SSL_pending(ssl_.get()) > 0) || IsReady(POLLIN); }
  bool is_writable() const override { return IsReady(POLLOUT); }
  // The server uses no addresses.
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return socket_.get(); }

 private:
  static constexpr size_t kMostBytes = 1 << 20;

  bool IsReady(int16_t events) const {
    pollfd event = {socket_.get(), events, 0};
    return ::poll(&event, 1, 0) == 1;
  }
  // Whether the socket is ready before the deadline.
  bool Await(int16_t events) const {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - MonotonicClock::now()).count();
      pollfd event = {socket_.get(), events, 0};
      const int ready = left <= 0 ? 0 : ::poll(&event, 1, static_cast<int>(left));
      if (ready >= 0 || errno != EINTR) return ready == 1;
    }
  }
  // Repeats a system call or one of OpenSSL until it does something. 0 at the end of the connection; -1 when it fails
  // or the time is over.
  ssize_t Try(const std::function<ssize_t()>& call) {
    for (;;) {
      ERR_clear_error();
      errno = 0;
      const ssize_t done = call();
      if (done > 0) return done;
      if (ssl_ != nullptr) {
        const int error = SSL_get_error(ssl_.get(), static_cast<int>(done));
        if (error == SSL_ERROR_ZERO_RETURN) return 0;
        if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return -1;
        if (!Await(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT)) return -1;
      } else if (done == 0) {
        return 0;
      } else if (errno == EAGAIN) {
        if (!Await(is_answering_ ? POLLOUT : POLLIN)) return -1;
      } else if (errno != EINTR) {
        return -1;
      }
    }
  }

  const Fd socket_;
  const HttpLimits& limits_;
  WaitingConnections* const waiting_;
  SslPtr ssl_{nullptr, &SSL_free};
  bool is_set_up_ = false;
  bool is_answering_ = false;
  MonotonicClock::time_point deadline_;
};

class HttpThreads final : public httplib::TaskQueue {
 public:
  HttpThreads(size_t most, WaitingConnections* waiting) : most_(most), waiting_(waiting) {}

  void enqueue(std::function<void()> job) override {
    MutexLock lock(mu_);
    jobs_.push_back(std::move(job));
    if (jobs_.size() <= idle_) return changed_.NotifyOne();
    if (threads_.size() == most_) return waiting_->FailOldest();
    threads_.emplace_back("tb-http-client", [this] { Work(); });
  }
  void shutdown() override {
    waiting_->FailAll();
    std::vector<Thread> threads;
    {
      MutexLock lock(mu_);
      is_over_ = true;
      changed_.NotifyAll();
      threads.swap(threads_);
    }
    for (Thread& thread : threads) thread.Join();
  }

 private:
  void Work() {
    for (;;) {
      std::function<void()> job;
      {
        MutexLock lock(mu_);
        ++idle_;
        changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return is_over_ || !jobs_.empty(); });
        --idle_;
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job();
    }
  }

  const size_t most_;
  WaitingConnections* const waiting_;
  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> jobs_ TB_GUARDED_BY(mu_);
  std::vector<Thread> threads_ TB_GUARDED_BY(mu_);
  size_t idle_ TB_GUARDED_BY(mu_) = 0;
  bool is_over_ TB_GUARDED_BY(mu_) = false;
};

}  // namespace

// The sockets are shut down and not closed, because their threads use them. A thread closes its socket after it has
// removed it here, so no number stands for another file.
void WaitingConnections::Add(int socket) {
  MutexLock lock(mu_);
  sockets_.push_back(socket);
  if (all_fail_) ::shutdown(socket, SHUT_RDWR);
}

void WaitingConnections::Remove(int socket) {
  MutexLock lock(mu_);
  std::erase(sockets_, socket);
}

void WaitingConnections::FailOldest() {
  MutexLock lock(mu_);
  if (sockets_.empty()) return;
  ::shutdown(sockets_.front(), SHUT_RDWR);
  sockets_.pop_front();
}

void WaitingConnections::FailAll() {
  MutexLock lock(mu_);
  all_fail_ = true;
  for (int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
}

thread_local bool HttpServer::is_for_stranger_ = false;

HttpServer::HttpServer(std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> tls, const HttpLimits& limits,
                       bool checks_users)
    : tls_(std::move(tls)), limits_(limits), checks_users_(checks_users) {
  new_task_queue = [this] { return new HttpThreads(static_cast<size_t>(limits_.threads), &waiting_); };
}

int HttpServer::Bind(const std::string& host, int port) {
  if (port == 0) {
    port = bind_to_any_port(host);
  } else if (!bind_to_port(host, port)) {
    port = -1;
  }
  // httplib lets five clients wait to be accepted. The kernel would make a sixth try again a second later.
  if (port >= 0) ::listen(svr_sock_, SOMAXCONN);
  return port;
}

bool HttpServer::process_and_close_socket(socket_t socket) {
  HttpConnection connection(socket, limits_, &waiting_);
  is_for_stranger_ = checks_users_ && !connection.IsOfOwnUser();
  if (tls_ != nullptr && !connection.SetUpTls(tls_.get())) return false;
  bool is_closed = false;
  return process_request(connection, true, is_closed, [&connection](const httplib::Request& request) {
    // The bodies of others are still to come; they are read and dropped.
    if (request.method == "GET" || request.method == "HEAD") connection.OnRequest();
  });
}

}  // namespace tensorbraid
