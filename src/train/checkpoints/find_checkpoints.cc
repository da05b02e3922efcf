#include "train/checkpoints/find_checkpoints.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/system/clock.h"
#include "core/system/env.h"
#include "core/text/strings.h"
#include "io/file.h"

namespace tensorbraid {

std::vector<std::string> FindCheckpoints(const std::string& directory) {
  constexpr std::string_view kIndex = ".index";
  std::vector<std::pair<WallClock::time_point, std::string>> found;
  const auto paths = MatchingPaths(JoinPath(directory, StrCat("*", kIndex)));
  for (const std::string& path : paths.value_or(std::vector<std::string>())) {
    const auto info = Env::Default().Stat(path);
    if (info.ok()) found.emplace_back(info->modified, path.substr(0, path.size() - kIndex.size()));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> prefixes;
  for (auto& [time, prefix] : found) prefixes.push_back(std::move(prefix));
  return prefixes;
}

}  // namespace tensorbraid
