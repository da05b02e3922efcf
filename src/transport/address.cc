#include "transport/address.h"

#include <charconv>

#include "core/strings.h"

namespace tensorbraid {

std::string HostPort::ToString() const {
  if (host.find(':') != std::string::npos) return StrCat("[", host, "]:", port);
  return StrCat(host, ":", port);
}

StatusOr<HostPort> ParseHostPort(std::string_view address) {
  const auto bad = [&](std::string_view why) {
    return InvalidArgument("address \"", address, "\" is not host:port: ", why);
  };
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return bad("the port is missing");
  std::string_view host = address.substr(0, colon);
  const std::string_view digits = address.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad("an IPv6 address needs brackets");
  }
  if (host.empty()) return bad("the host is missing");
  for (const char c : host) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '/' || c == '[' || c == ']') return bad("a character of the host");
  }
  HostPort result{.host = std::string(host)};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.port);
  if (error != std::errc() || end != digits.data() + digits.size() || result.port < 0 || result.port > 65535) {
    return bad("the port is not a number from 0 to 65535");
  }
  return result;
}

bool IsLoopbackHost(std::string_view host) {
  return host == "localhost" || host == "::1" || host.substr(0, 4) == "127.";
}

}  // namespace tensorbraid
