#include "runtime/kernel/handle_kernel.h"

#include <algorithm>
#include <atomic>
#include <cctype>

#include "core/text/strings.h"

namespace tensorbraid {

std::string PrivateResourceName(const std::string& node) {
  static std::atomic<uint64_t> next{0};
  return StrCat("_", next.fetch_add(1, std::memory_order_relaxed), "_", node);
}

Status CheckResourceNames(const std::string& container, const std::string& shared_name) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.'; };
  const auto fits = [&](unsigned char c) { return letter(c) || c == '_' || c == '-' || c == '/' || c == '+'; };
  if (!container.empty() && (!letter(container[0]) || !std::all_of(container.begin(), container.end(), fits))) {
    return InvalidArgument("container name '", container,
                           "' is not valid: it must begin with a letter, a digit or '.', followed by those or any of "
                           "'_', '-', '/' and '+'");
  }
  if (shared_name.starts_with("_"))
    return InvalidArgument("shared_name '", shared_name, "' must not begin with '_', which marks unnamed resources");
  return OkStatus();
}

}  // namespace tensorbraid
