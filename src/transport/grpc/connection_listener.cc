#include "transport/grpc/connection_listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "core/system/peer_user.h"
#include "core/text/logging.h"

namespace tensorbraid {
namespace {

constexpr int kBacklog = 1024;
// How long the thread pauses when the process has no descriptor left for a connection.
constexpr int kPauseMs = 100;

size_t DefaultMaxConnections() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return size_t{1} << 20;
  return std::max<size_t>(16, files.rlim_cur / 4 * 3);
}

// The inode of an open descriptor; 0 if it is closed.
ino_t InodeOf(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? info.st_ino : 0;
}

int PortOf(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// "10.0.0.7" or "fe80::7". An IPv4 address that a socket for IPv6 has accepted looks like any other.
std::string AddressText(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof text);
  } else if (address.ss_family == AF_INET6) {
    const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&v6)) {
      ::inet_ntop(AF_INET, v6.s6_addr + 12, text, sizeof text);
    } else {
      ::inet_ntop(AF_INET6, &v6, text, sizeof text);
    }
  }
  return text;
}

}  // namespace

std::unique_ptr<ConnectionListener> ConnectionListener::Bind(const HostPort& bind) {
  const auto try_bind = [](const HostPort& where) {
    std::unique_ptr<ConnectionListener> listener(new ConnectionListener);
    return listener->BindTo(where) ? std::move(listener) : nullptr;
  };
  auto listener = try_bind(bind);
  // A machine without IPv6 cannot bind "::".
  if (listener == nullptr && bind.host == "::") listener = try_bind({"0.0.0.0", bind.port});
  return listener;
}

bool ConnectionListener::BindTo(const HostPort& bind) {
  port_ = bind.port;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(bind.host.c_str(), std::to_string(port_).c_str(), &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    sockaddr_storage address{};
    std::memcpy(&address, a->ai_addr, a->ai_addrlen);
    // If the system chose a free port for the first address, the others use the same port.
    const auto port = htons(static_cast<uint16_t>(port_));
    if (a->ai_family == AF_INET6) {
      reinterpret_cast<sockaddr_in6&>(address).sin6_port = port;
    } else {
      reinterpret_cast<sockaddr_in&>(address).sin_port = port;
    }
    Fd socket(::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol));
    const int on = 1, off = 0;
    if (socket.get() < 0 || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return false;
    if (bind.host == "::") ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    socklen_t size = a->ai_addrlen;
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(socket.get(), kBacklog) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      return false;
    }
    port_ = PortOf(address);
    listeners_.push_back(std::move(socket));
  }
  return !listeners_.empty();
}

ConnectionListener::~ConnectionListener() { Stop(); }

void ConnectionListener::Start(std::unique_ptr<Acceptor> acceptor, std::unique_ptr<RefusingServer> strangers,
                               int max_connections, int max_per_address) {
  acceptor_ = std::move(acceptor);
  strangers_ = std::move(strangers);
  max_connections_ = max_connections > 0 ? static_cast<size_t>(max_connections) : DefaultMaxConnections();
  max_per_address_ = static_cast<size_t>(std::max(0, max_per_address));
  stop_ = std::make_unique<Fd>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  TB_CHECK(stop_->get() >= 0);
  thread_ = Thread("tb-accept", [this] { Loop(); });
}

void ConnectionListener::Stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    TB_CHECK(::write(stop_->get(), &one, sizeof one) == sizeof one);
    thread_.Join();
  }
  strangers_.reset();
  listeners_.clear();
}

void ConnectionListener::Loop() {
  std::vector<pollfd> events = {{stop_->get(), POLLIN, 0}};
  for (const Fd& listener : listeners_) events.push_back({listener.get(), POLLIN, 0});
  while (true) {
    if (::poll(events.data(), events.size(), -1) < 0) continue;  // interrupted
    if (events[0].revents != 0) return;
    for (size_t i = 1; i < events.size(); ++i) {
      if (events[i].revents != 0) Accept(listeners_[i - 1]);
    }
  }
}

void ConnectionListener::Accept(const Fd& listener) {
  sockaddr_storage peer{}, own{};
  socklen_t peer_size = sizeof peer, own_size = sizeof own;
  Fd socket(::accept4(listener.get(), reinterpret_cast<sockaddr*>(&peer), &peer_size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.get() < 0) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
    // The connection stays in the queue, so poll() would report it again at once.
    pollfd stop{stop_->get(), POLLIN, 0};
    ::poll(&stop, 1, kPauseMs);
    return;
  }
  const std::string address = AddressText(peer);
  // A connection from this machine has the same address at both ends.
  const bool own_machine =
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &own_size) == 0 && AddressText(own) == address;
  if (strangers_ != nullptr) {
    if (const Status served = CheckOtherEnd(socket); !served.ok()) {
      LogRefusal(served);
      return strangers_->Take(std::move(socket), listener.get());
    }
  }
  if (IsOneTooMany(address, own_machine)) return;
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connections_.push_back({socket.get(), InodeOf(socket.get()), address});
  ++by_address_[address];
  Acceptor::NewConnectionParameters parameters;
  parameters.listener_fd = listener.get();
  parameters.fd = socket.Release();
  acceptor_->HandleNewConnection(&parameters);
}

void ConnectionListener::LogRefusal(const Status& why) {
  constexpr size_t kMostReasons = 100;
  if (refusals_.size() >= kMostReasons || !refusals_.insert(std::string(why.message())).second) return;
  TB_LOG(Warning, "transport") << "port " << port_ << ": refused a connection: " << why.message();
}

bool ConnectionListener::IsOneTooMany(const std::string& address, bool own_machine) {
  const size_t most = max_per_address_ > 0 ? max_per_address_
                      : own_machine        ? max_connections_
                                           : std::max<size_t>(1, max_connections_ / 2);
  if (connections_.size() >= max_connections_ || OpenFrom(address) >= most) ForgetClosed();
  if (connections_.size() >= max_connections_) {
    if (!std::exchange(warned_, true)) {
      TB_LOG(Warning, "transport")
          << "port " << port_ << ": turning connections away: " << max_connections_
          << " are open; --max_connections and the limit of open files (ulimit -n) allow no more";
    }
    return true;
  }
  warned_ = false;
  if (OpenFrom(address) >= most) {
    if (warned_of_.insert(address).second) {
      TB_LOG(Warning, "transport") << "port " << port_ << ": turning connections from " << address << " away: " << most
                                   << " are open; --max_connections_per_address allows no more";
    }
    return true;
  }
  warned_of_.erase(address);
  return false;
}

void ConnectionListener::ForgetClosed() {
  std::erase_if(connections_, [this](const Connection& c) {
    if (InodeOf(c.fd) == c.inode) return false;
    const auto count = by_address_.find(c.address);
    if (--count->second == 0) by_address_.erase(count);
    return true;
  });
  // Only addresses with open connections are remembered.
  absl::erase_if(warned_of_, [this](const std::string& address) { return !by_address_.contains(address); });
}

size_t ConnectionListener::OpenFrom(const std::string& address) const {
  const auto count = by_address_.find(address);
  return count == by_address_.end() ? 0 : count->second;
}

}  // namespace tensorbraid
