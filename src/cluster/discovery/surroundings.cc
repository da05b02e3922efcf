#include "cluster/discovery/surroundings.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "core/system/fd.h"
#include "core/system/host_name.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "transport/address.h"

extern char** environ;

namespace tensorbraid {
namespace {

// The numeric form of an address; "" for one that other machines cannot use.
std::string Usable(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address == nullptr) return "";
  if (address->sa_family == AF_INET) {
    const auto& ip = reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    const uint32_t bits = ntohl(ip.s_addr);
    if (bits >> 24 == 127 || bits >> 16 == 0xa9fe || bits == 0) return "";  // 127/8, 169.254/16
    inet_ntop(AF_INET, &ip, text, sizeof text);
  } else if (address->sa_family == AF_INET6) {
    const auto& ip = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    if (IN6_IS_ADDR_LOOPBACK(&ip) || IN6_IS_ADDR_LINKLOCAL(&ip) || IN6_IS_ADDR_UNSPECIFIED(&ip)) return "";
    inet_ntop(AF_INET6, &ip, text, sizeof text);
  }
  return text;
}

// The address from which this machine would send to `far`: connecting a UDP socket chooses it, and sends nothing.
std::string SourceTowards(int family, const char* far) {
  sockaddr_storage to{};
  socklen_t size = sizeof(sockaddr_in);
  to.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET) {
    auto& ip4 = reinterpret_cast<sockaddr_in&>(to);
    ip4.sin_port = htons(9);
    inet_pton(AF_INET, far, &ip4.sin_addr);
  } else {
    auto& ip6 = reinterpret_cast<sockaddr_in6&>(to);
    ip6.sin6_port = htons(9);
    inet_pton(AF_INET6, far, &ip6.sin6_addr);
    size = sizeof(sockaddr_in6);
  }
  const Fd socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open() || ::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), size) != 0) return "";
  sockaddr_storage own{};
  socklen_t own_size = sizeof own;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &own_size) != 0) return "";
  return Usable(reinterpret_cast<sockaddr*>(&own));
}

std::vector<std::string> OwnAddresses() {
  std::vector<std::string> addresses;
  const auto add = [&](const std::string& address) {
    if (!address.empty() && std::find(addresses.begin(), addresses.end(), address) == addresses.end()) {
      addresses.push_back(address);
    }
  };
  // Addresses for documentation, so they are reached by the default route.
  add(SourceTowards(AF_INET, "192.0.2.1"));
  add(SourceTowards(AF_INET6, "2001:db8::1"));
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return addresses;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
      if (i->ifa_addr != nullptr && i->ifa_addr->sa_family == family) add(Usable(i->ifa_addr));
    }
  }
  freeifaddrs(list);
  return addresses;
}

StatusOr<std::vector<std::string>> ResolveHost(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
    return NotFound(host, ": ", gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) {
      addresses.emplace_back(text);
    }
  }
  return addresses;
}

// Differs between machines, and between containers with networks of their own.
std::string NodeId(const std::string& host_name) {
  char network[64] = "";
  if (const ssize_t size = ::readlink("/proc/self/ns/net", network, sizeof network - 1); size > 0) network[size] = '\0';
  std::string boot = ReadFile("/proc/sys/kernel/random/boot_id").value_or("");
  while (boot.ends_with('\n')) boot.pop_back();
  return StrCat(host_name, " ", boot, " ", static_cast<const char*>(network));
}

}  // namespace

Surroundings Surroundings::OfProcess() {
  Surroundings around;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) around.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  around.host_name = HostName();
  around.node = NodeId(around.host_name);
  around.addresses = OwnAddresses();
  around.program = "/proc/self/exe";
  around.resolve = &ResolveHost;
  return around;
}

std::string ReachableHost(const Surroundings& around, const std::string& engine_name) {
  const auto given = around.variables.find("TENSORBRAID_HOST");
  if (given != around.variables.end() && !given->second.empty()) return given->second;
  for (const std::string& name : {engine_name, around.host_name}) {
    if (name.empty() || IsLoopbackHost(name)) continue;
    const auto found = around.resolve(name);
    if (!found.ok()) continue;
    for (const std::string& address : *found) {
      const auto& own = around.addresses;
      if (std::find(own.begin(), own.end(), address) != own.end()) return name;
    }
  }
  return around.addresses.empty() ? around.host_name : around.addresses.front();
}

}  // namespace tensorbraid
