// Shows progress: on a terminal in one line, which is updated in place, elsewhere as separate lines.
#ifndef TENSORBRAID_TRAIN_SESSIONS_PROGRESS_LINE_H_
#define TENSORBRAID_TRAIN_SESSIONS_PROGRESS_LINE_H_

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace tensorbraid {

// Writes to standard error, or to `sink` if it is set. Not thread-safe.
class ProgressLine {
 public:
  explicit ProgressLine(std::function<void(const std::string&)> sink)
      : sink_(std::move(sink)), in_place_(!sink_ && isatty(STDERR_FILENO) != 0 && !IsDumb()) {}

  // The time between two texts: `lines` if each text becomes a separate line, shorter on a terminal.
  std::chrono::milliseconds interval(std::chrono::milliseconds lines) const {
    return in_place_ ? std::chrono::milliseconds(100) : lines;
  }
  void Write(const std::string& text) {
    if (sink_) {
      sink_(text);
    } else {
      // "\r\033[K" goes back to the beginning of the terminal's line and clears the line.
      std::fprintf(stderr, in_place_ ? "\r\033[K%s" : "%s\n", text.c_str());
      std::fflush(stderr);
      open_ = in_place_;
    }
  }
  // Ends the line that is shown on the terminal.
  void Finish() {
    if (open_) std::fputc('\n', stderr);
    open_ = false;
  }

 private:
  // Whether the terminal cannot update a line. A launcher that passes lines on sets this.
  static bool IsDumb() {
    const char* terminal = std::getenv("TERM");
    return terminal != nullptr && std::string_view(terminal) == "dumb";
  }

  const std::function<void(const std::string&)> sink_;
  const bool in_place_;
  bool open_ = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_SESSIONS_PROGRESS_LINE_H_
