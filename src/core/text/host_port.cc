#include "core/text/host_port.h"

#include <charconv>

#include "core/text/strings.h"

namespace tensorbraid {

std::string HostPort::ToString() const {
  return host.find(':') == std::string::npos ? StrCat(host, ":", port) : StrCat("[", host, "]:", port);
}

StatusOr<HostPort> ParseHostPort(std::string_view address) {
  const auto bad = [address](const char* why) {
    return InvalidArgument("bad address '", address, "': ", why, "; write host:port, such as localhost:2222");
  };
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return bad("the port is missing");
  std::string_view host = address.substr(0, colon);
  const std::string_view digits = address.substr(colon + 1);

  HostPort result;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.port);
  if (error != std::errc() || end != digits.data() + digits.size() || result.port < 0 || result.port > 65535) {
    return bad("the port is not a number from 0 to 65535");
  }
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) return bad("only an IPv6 address may be in brackets");
  } else if (host.find(':') != std::string_view::npos) {
    return bad("an IPv6 address must be in brackets, as in [::1]:2222");
  }
  if (host.empty()) return bad("the host is missing");
  if (host.find_first_of(" \t\r\n/,;[]") != std::string_view::npos) {
    return bad("the host has a character that is not allowed in a host name");
  }
  result.host = std::string(host);
  return result;
}

}  // namespace tensorbraid
