#include "launch/engines/kubernetes/pod_log.h"

namespace tensorbraid {

void PodLog::Add(std::string_view line, const std::function<void(std::string_view)>& on_line) {
  const size_t blank = line.find(' ');
  absl::Time time;
  std::string error;
  const std::string_view stamp = line.substr(0, blank);
  if (absl::ParseTime(absl::RFC3339_full, {stamp.data(), stamp.size()}, &time, &error)) {
    // Several lines may have the same time.
    if (is_repeated_ && (time < last_ || (time == last_ && ++repeated_ <= passed_on_))) return;
    is_repeated_ = false;
    passed_on_ = time == last_ ? passed_on_ + 1 : 1;
    last_ = time;
    since_ = stamp;
    line = blank == std::string_view::npos ? "" : line.substr(blank + 1);
  }
  // A line without a time is the rest of a very long one, or what the node says.
  if (is_repeated_) return;
  if (line.ends_with('\r')) line.remove_suffix(1);  // a terminal's
  on_line(line);
}

}  // namespace tensorbraid
