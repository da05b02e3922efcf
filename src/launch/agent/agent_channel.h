// The process through which a launcher talks to an agent, or to several.
#ifndef TENSORBRAID_LAUNCH_AGENT_AGENT_CHANNEL_H_
#define TENSORBRAID_LAUNCH_AGENT_AGENT_CHANNEL_H_

#include <poll.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/processes/child_process.h"
#include "launch/processes/group_guard.h"
#include "launch/processes/line_splitter.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Lines of text to the process's standard input and from its standard output and standard error. No function but
// AwaitEnd blocks. Not thread-safe. The process is killed with this object.
class AgentChannel {
 public:
  // `on_error_line` gets the lines of standard error, from within Handle.
  explicit AgentChannel(std::function<void(std::string_view)> on_error_line);
  AgentChannel(const AgentChannel&) = delete;
  AgentChannel& operator=(const AgentChannel&) = delete;

  // Starts the process. `death_signal` is what it gets if this process is killed. If that is not SIGKILL, it goes on
  // until it ends by itself, and its output is read to the end (GroupGuard). The system's error if it cannot be run.
  Status Open(const std::vector<std::string>& command, int death_signal = SIGKILL);
  bool is_open() const { return process_.has_value(); }
  // Kills the process. Output of the process that has not been read is lost.
  void Close();

  // Queues lines, each with its newline, and writes what the process takes now. No effect if the channel is not open.
  void Send(std::string_view lines);
  // Lines wait until the process takes them.
  bool has_unsent() const { return !unsent_.empty(); }
  void AddEvents(std::vector<pollfd>* events);
  // Writes and reads. `on_line` gets the lines of standard output; it may close the channel, and gets no more lines
  // then. How the process has ended, if it has, and the last line of its standard error: "srun exited with 1: ...". The
  // channel is closed then.
  std::optional<std::string> Handle(const std::function<void(std::string_view)>& on_line);

  void Signal(int signal);
  void CloseInput();
  // Waits until the process has ended, and drops its output. Whether it ended before `deadline`.
  bool AwaitEnd(std::chrono::steady_clock::time_point deadline);

 private:
  void Write();
  void Read(const std::function<void(std::string_view)>& on_line);

  const std::function<void(std::string_view)> on_error_line_;
  std::optional<ChildProcess> process_;
  std::optional<GroupGuard> guard_;  // of the output
  std::string program_;
  std::string unsent_;
  std::string unparsed_;  // the beginning of a line
  std::string last_error_;
  std::optional<LineSplitter> error_lines_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_AGENT_CHANNEL_H_
