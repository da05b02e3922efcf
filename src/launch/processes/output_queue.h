// Output of a program that must not wait for the reader of its output.
#ifndef TENSORBRAID_LAUNCH_PROCESSES_OUTPUT_QUEUE_H_
#define TENSORBRAID_LAUNCH_PROCESSES_OUTPUT_QUEUE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/system/fd.h"
#include "core/threads/thread.h"

namespace tensorbraid {

// Lines for a file descriptor, in order. A thread of its own writes them, because nothing else keeps the caller from
// waiting for a terminal that is stopped (Ctrl-S) or for a full pipe: O_NONBLOCK would also hold for all other programs
// that have the same terminal.
//
// Lines are written in blocks of at most PIPE_BUF bytes, which a pipe takes as a whole; a longer line is a block of its
// own. Where the descriptor does not take any more, at least kMostBytes are kept. Then the oldest lines are left out,
// and a line says how many. An error other than that of a pipe without a reader, such as a full disk, loses a block.
//
// No function blocks. Not thread-safe.
class OutputQueue {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;
  // Whether a line may be left out.
  enum class Loss { kAllowed, kNever };

  // Keeps a duplicate of `fd`. If `fd` is not open, all lines are dropped. `gap` makes the line, with its newline, that
  // stands for `count` lines which were left out. It is called on another thread.
  OutputQueue(int fd, std::function<std::string(size_t count)> gap, size_t most_bytes = kMostBytes);
  // Lines that have not been written are lost.
  ~OutputQueue();
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  // Adds a line, or several that must stay together, with the newline at the end.
  void Add(std::string_view lines, Loss loss = Loss::kAllowed);

  // The descriptor is a pipe or a socket, and its reader has gone. Later lines are dropped.
  bool is_closed() const;
  // How many bytes have not been written yet.
  size_t unwritten() const;
  // Readable once is_closed(), and after bytes were written following a call of ReportProgress, until its next call.
  const Fd& event() const;
  void ReportProgress();

 private:
  struct State;
  static void WriteBlocks(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
  Thread thread_;  // started by the first line, with the signal mask of the caller
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_PROCESSES_OUTPUT_QUEUE_H_
