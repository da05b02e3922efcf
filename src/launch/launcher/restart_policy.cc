#include "launch/launcher/restart_policy.h"

#include <charconv>
#include <string_view>

#include "core/text/strings.h"

namespace tensorbraid {

StatusOr<RestartPolicy> ParseRestartPolicy(const std::string& text) {
  constexpr std::string_view kOnFailure = "on-failure";
  if (text == "no") return RestartPolicy{};
  if (text == kOnFailure) return RestartPolicy{.max_restarts = -1};
  if (text.starts_with("on-failure:")) {
    const char* first = text.data() + kOnFailure.size() + 1;
    RestartPolicy policy;
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), policy.max_restarts);
    if (error == std::errc() && end == text.data() + text.size() && policy.max_restarts >= 0) return policy;
  }
  return InvalidArgument("--restart=", text,
                         " must be no, on-failure, or on-failure:N, where N is the largest number of",
                         " restarts of each task; for example on-failure:5");
}

}  // namespace tensorbraid
