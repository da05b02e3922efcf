// Splits the output of a process into lines.
#ifndef TENSORBRAID_LAUNCH_PROCESSES_LINE_SPLITTER_H_
#define TENSORBRAID_LAUNCH_PROCESSES_LINE_SPLITTER_H_

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

namespace tensorbraid {

// Splits a stream of bytes into lines. A line of more than kMaxLine bytes is passed on in pieces of that size.
class LineSplitter {
 public:
  static constexpr size_t kMaxLine = 64 * 1024;

  // `sink` gets each line without its newline.
  explicit LineSplitter(std::function<void(std::string_view)> sink) : sink_(std::move(sink)) {}

  void Add(std::string_view bytes) {
    while (!bytes.empty()) {
      const size_t end = bytes.substr(0, kMaxLine - partial_.size()).find('\n');
      if (end != std::string_view::npos) {
        partial_ += bytes.substr(0, end);
        bytes.remove_prefix(end + 1);
        Flush();
        continue;
      }
      const size_t taken = std::min(bytes.size(), kMaxLine - partial_.size());
      partial_ += bytes.substr(0, taken);
      bytes.remove_prefix(taken);
      if (partial_.size() < kMaxLine) return;
      Flush();
    }
  }

  // Call at the end of the stream: passes on a last line that has no newline.
  void Finish() {
    if (!partial_.empty()) Flush();
  }

 private:
  void Flush() {
    sink_(partial_);
    partial_.clear();
  }

  std::function<void(std::string_view)> sink_;
  std::string partial_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_PROCESSES_LINE_SPLITTER_H_
