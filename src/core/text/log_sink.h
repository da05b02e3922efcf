// Where the lines of this process go instead of standard error, for programs that have a log of their own.
#ifndef TENSORBRAID_CORE_TEXT_LOG_SINK_H_
#define TENSORBRAID_CORE_TEXT_LOG_SINK_H_

#include <string>
#include <string_view>

#include "core/text/logging.h"

namespace tensorbraid {

class LogSink {
 public:
  virtual ~LogSink() = default;
  // Takes a line whose level is enabled. `line` is the text that standard error would show, without its end. Any thread
  // may call this, with locks held. So it must not wait for anything but a short lock of its own.
  virtual void Write(LogLevel level, std::string_view area, const std::string& message, const std::string& line) = 0;
  // Writes the lines that the sink still keeps to standard error. Called just before the process is aborted.
  virtual void WriteRest() = 0;
};

// Replaces standard error by `sink`, which must live until the process ends. Null: standard error again.
void SetLogSink(LogSink* sink);
// Writes a line to standard error, whatever the sink is. Adds the end of the line.
void WriteLineToStderr(const std::string& line);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_LOG_SINK_H_
