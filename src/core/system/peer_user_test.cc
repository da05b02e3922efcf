#include "core/system/peer_user.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/system/held_port.h"
#include "core/testing/other_user.h"

namespace tensorbraid {
namespace {

sockaddr_storage Address(const std::string& host, int port, socklen_t* size) {
  sockaddr_storage address{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(static_cast<uint16_t>(port));
    *size = sizeof v4;
  } else {
    EXPECT_EQ(::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr), 1) << host;
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(static_cast<uint16_t>(port));
    *size = sizeof v6;
  }
  return address;
}

Fd NewSocket(const std::string& host) {
  Fd socket(::socket(host.find(':') == std::string::npos ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  return socket;
}

bool Bind(const Fd& socket, const std::string& host, int port) {
  socklen_t size;
  const sockaddr_storage address = Address(host, port, &size);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
}

int PortOf(const Fd& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);  // at the same place for both families
}

Fd Listen(const std::string& host) {
  Fd socket = NewSocket(host);
  EXPECT_TRUE(Bind(socket, host, 0)) << host << ": " << std::strerror(errno);
  EXPECT_EQ(::listen(socket.get(), 8), 0);
  return socket;
}

Fd Connect(const std::string& host, int port, const std::string& from = "", int from_port = 0) {
  Fd socket = NewSocket(host);
  EXPECT_TRUE(from.empty() || Bind(socket, from, from_port)) << std::strerror(errno);
  socklen_t size;
  const sockaddr_storage address = Address(host, port, &size);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size), 0) << std::strerror(errno);
  return socket;
}

Fd Accept(const Fd& listener) { return Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)); }

// A way to reach this machine: where a server listens, and what a client connects to.
struct Way {
  std::string listen;
  std::string connect;
  std::string from = "";
};

std::vector<Way> Ways() {
  std::vector<Way> ways = {{"127.0.0.1", "127.0.0.1"},
                           {"127.0.0.1", "127.0.0.1", "127.0.0.9"},
                           {"0.0.0.0", "127.8.7.6"},
                           {"127.0.0.1", "::ffff:127.0.0.1"}};
  if (Bind(NewSocket("::1"), "::1", 0)) {
    for (const Way& way : {Way{"::1", "::1"}, Way{"::", "::1"}, Way{"::", "127.0.0.1"}}) ways.push_back(way);
  }
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return ways;
  for (const ifaddrs* a = found; a != nullptr; a = a->ifa_next) {
    char text[INET_ADDRSTRLEN];
    if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != AF_INET) continue;
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(a->ifa_addr)->sin_addr, text, sizeof text);
    if (std::string(text).starts_with("127.")) continue;
    ways.push_back({"0.0.0.0", text});
    ways.push_back({text, text, "127.0.0.1"});
    break;
  }
  ::freeifaddrs(found);
  return ways;
}

TEST(PeerUserTest, TheOtherEndIsOfTheOwnUserOverEveryAddressOfTheMachine) {
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.listen + " <- " + way.connect);
    const Fd listener = Listen(way.listen);
    const Fd client = Connect(way.connect, PortOf(listener), way.from);
    const Fd server = Accept(listener);
    for (const Fd* end : {&server, &client}) {
      const OtherEnd other = OtherEndOf(*end);
      EXPECT_TRUE(other.is_here);
      EXPECT_EQ(other.user, ::geteuid());
      EXPECT_EQ(CheckOtherEnd(*end), OkStatus());
    }
  }
}

TEST(PeerUserTest, AnotherUserIsRefusedOverEveryAddressOfTheMachine) {
  TB_NEEDS_OTHER_USER();
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.listen + " <- " + way.connect);
    const Fd listener = Listen(way.listen);
    Fd client;
    AsOtherUser([&] { client = Connect(way.connect, PortOf(listener), way.from); });
    const Fd server = Accept(listener);
    EXPECT_EQ(OtherEndOf(server).user, kOtherUser);
    const Status status = CheckOtherEnd(server);
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
    EXPECT_NE(status.message().find("23456"), absl::string_view::npos) << status;
  }
}

TEST(PeerUserTest, AConnectionIsNotItsPort) {
  TB_NEEDS_OTHER_USER();
  const Fd first = Listen("127.0.0.1"), second = Listen("127.0.0.1");
  // Two clients with the same port, of two users, at two servers.
  const Fd own = Connect("127.0.0.1", PortOf(first), "127.0.0.1");
  Fd others;
  AsOtherUser([&] { others = Connect("127.0.0.1", PortOf(second), "127.0.0.1", PortOf(own)); });
  EXPECT_EQ(OtherEndOf(Accept(first)).user, 0);
  EXPECT_EQ(OtherEndOf(Accept(second)).user, kOtherUser);
}

TEST(PeerUserTest, AClosedConnectionIsNotTakenForRoots) {
  TB_NEEDS_OTHER_USER();
  const Fd listener = Listen("127.0.0.1");
  AsOtherUser([&] { Connect("127.0.0.1", PortOf(listener)); });  // closes it
  const Fd server = Accept(listener);
  EXPECT_TRUE(OtherEndOf(server).is_here);
  EXPECT_EQ(OtherEndOf(server).user, std::nullopt);
  EXPECT_TRUE(absl::IsPermissionDenied(CheckOtherEnd(server)));
}

TEST(PeerUserTest, ConnectsToAServerOfTheOwnUser) {
  for (const Way& way : Ways()) {
    if (!way.from.empty() || way.connect.starts_with("::ffff")) continue;
    SCOPED_TRACE(way.listen + " <- " + way.connect);
    const Fd listener = Listen(way.listen);
    const auto connected = ConnectToOwnUser({way.connect, PortOf(listener)}, std::chrono::seconds(30));
    EXPECT_EQ(connected.status(), OkStatus());
  }
}

TEST(PeerUserTest, DoesNotUseAServerOfAnotherUser) {
  TB_NEEDS_OTHER_USER();
  for (const std::string host : {"127.0.0.1", "0.0.0.0"}) {
    Fd listener;
    AsOtherUser([&] { listener = Listen(host); });
    const auto connected = ConnectToOwnUser({"localhost", PortOf(listener)}, std::chrono::seconds(30));
    EXPECT_TRUE(absl::IsPermissionDenied(connected.status())) << connected.status();
    EXPECT_NE(connected.status().message().find("belongs to user 23456"), absl::string_view::npos);
    // The connection was closed again, and nothing was sent.
    char byte;
    EXPECT_EQ(::recv(Accept(listener).get(), &byte, 1, 0), 0);
  }
}

TEST(PeerUserTest, WithoutAServerThereIsNoConnection) {
  const int port = PortOf(Listen("127.0.0.1"));
  const auto connected = ConnectToOwnUser({"127.0.0.1", port}, std::chrono::seconds(30));
  EXPECT_TRUE(absl::IsUnavailable(connected.status())) << connected.status();
  EXPECT_TRUE(absl::IsInvalidArgument(ConnectToOwnUser({"alpha", port}, std::chrono::seconds(30)).status()));
}

// A server that stops or starts meanwhile is not one of a foreign user: the client may try again.
TEST(PeerUserTest, AServerThatStopsMeanwhileIsUnavailable) {
  const HeldPort port = HeldPort::Take().value();
  std::atomic<bool> stop = false;
  int starts = 0;
  std::thread server([&] {
    while (!stop) {
      const Fd listener = NewSocket("127.0.0.1");
      // Very rarely the kernel still has the port in use. The server then starts a little later.
      if (!Bind(listener, "127.0.0.1", port.port())) continue;
      if (::listen(listener.get(), 8) == 0) ++starts;
    }
  });
  for (int i = 0; i < 2'000; ++i) {
    // A server that stops in the middle of a connection can lose its first packet, which is sent again after a second.
    const auto socket = ConnectToOwnUser({"127.0.0.1", port.port()}, std::chrono::milliseconds(10));
    EXPECT_TRUE(socket.ok() || absl::IsUnavailable(socket.status())) << socket.status();
  }
  stop = true;
  server.join();
  EXPECT_GT(starts, 0);
}

TEST(PeerUserTest, RootAndTheOwnUserAreServed) {
  EXPECT_TRUE(IsOwnUserOrRoot(0));
  EXPECT_TRUE(IsOwnUserOrRoot(::geteuid()));
  EXPECT_FALSE(IsOwnUserOrRoot(::geteuid() + 1));
}

}  // namespace
}  // namespace tensorbraid
