// Writes the output of a job.
#ifndef TENSORBRAID_LAUNCH_LAUNCHER_JOB_OUTPUT_H_
#define TENSORBRAID_LAUNCH_LAUNCHER_JOB_OUTPUT_H_

#include <poll.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/system/fd.h"
#include "launch/engines/engine.h"
#include "launch/launcher/job_monitor.h"
#include "launch/processes/output_queue.h"

namespace tensorbraid {

// Passes lines on to two descriptors or, if there is one, to a monitor. If a descriptor does not take lines, because
// its terminal is stopped or its reader does not read, neither the launcher nor the tasks wait for it (output_queue.h).
// No function but Finish blocks. Not thread-safe. REQUIRES: SIGPIPE is ignored.
class JobOutput {
 public:
  // The two descriptors may be the same file, and then their lines stay in order. `monitor` may be null.
  JobOutput(int out_fd, int err_fd, JobMonitor* monitor);

  // Whether lines to this stream may have colours: it is a terminal, and NO_COLOR is not set.
  bool has_color(OutputStream stream) const { return stream == OutputStream::kOut ? out_has_color_ : err_has_color_; }
  // `line` ends with a newline.
  void Write(OutputStream stream, std::string_view line);
  // A line of the launcher itself.
  void Say(std::string_view text);

  // Appends the descriptors that poll() must watch to learn when TakeClosed has a result.
  void AddEvents(std::vector<pollfd>* events) const;
  // The name of a stream whose reader has gone ("standard output"); each stream is returned once. std::nullopt if there
  // is none.
  std::optional<std::string> TakeClosed();
  // A line was or will be lost because the reader of its stream has gone.
  bool is_closed() const;

  // Waits until everything is written. Gives up when `interrupt` is readable, and after `patience` in which no stream
  // took anything; std::nullopt: waits as long as it takes.
  void Finish(const Fd& interrupt, std::optional<std::chrono::milliseconds> patience);

 private:
  struct Stream {
    Stream(std::string its_name, int fd);
    const std::string name;
    OutputQueue queue;
    bool told = false;  // that it is closed
  };
  size_t unwritten() const;

  JobMonitor* const monitor_;
  const bool out_has_color_;
  const bool err_has_color_;
  Stream out_;
  std::optional<Stream> err_;  // if it is not the same file as `out_`
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_LAUNCHER_JOB_OUTPUT_H_
