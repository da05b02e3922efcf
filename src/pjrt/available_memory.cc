#include "pjrt/available_memory.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/system/file_access.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

// The first number in a file of words and numbers, or the first one behind a word.
std::optional<int64_t> NumberIn(const std::string& path, std::string_view behind = "") {
  const StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return std::nullopt;
  std::istringstream words(*text);
  for (std::string word; !behind.empty() && word != behind;) {
    if (!(words >> word)) return std::nullopt;
  }
  int64_t number = 0;
  return words >> number ? std::optional(number) : std::nullopt;
}

// What a control group may still use. Nothing if there is none, or if it has no limit.
std::optional<int64_t> LeftInGroup(const std::string& limit_path, const std::string& used_path,
                                   const std::string& stat_path, std::string_view cached_word) {
  const auto limit = NumberIn(limit_path), used = NumberIn(used_path);
  if (!limit.has_value() || !used.has_value()) return std::nullopt;
  return std::max<int64_t>(0, *limit - *used + NumberIn(stat_path, cached_word).value_or(0));
}

}  // namespace

int64_t AvailableMemory(const std::string& root) {
  const ScopedFileAccess no_limit(nullptr);  // the calling step may be limited to the files of its client
  int64_t bytes = std::numeric_limits<int64_t>::max();
  if (const auto kilobytes = NumberIn(root + "/proc/meminfo", "MemAvailable:")) bytes = *kilobytes * 1024;
  const std::string second = root + "/sys/fs/cgroup", first = second + "/memory";  // versions of control groups
  for (const auto& left :
       {LeftInGroup(second + "/memory.max", second + "/memory.current", second + "/memory.stat", "inactive_file"),
        LeftInGroup(first + "/memory.limit_in_bytes", first + "/memory.usage_in_bytes", first + "/memory.stat",
                    "total_inactive_file")}) {
    if (left.has_value()) bytes = std::min(bytes, *left);
  }
  return bytes;
}

}  // namespace tensorbraid
