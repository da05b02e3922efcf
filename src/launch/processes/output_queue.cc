#include "launch/processes/output_queue.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <utility>

#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

// Writes all bytes, also to a descriptor that does not block, and returns 0 or the system's error.
int WriteOutput(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      pollfd event = {fd, POLLOUT, 0};
      ::poll(&event, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      return written == 0 ? EIO : errno;
    }
  }
  return 0;
}

}  // namespace

struct OutputQueue::State {
  // Lines that are written together, and left out together.
  struct Block {
    std::string text;
    size_t lines = 0;
    Loss loss = Loss::kAllowed;
    size_t left_out_before = 0;  // lines
  };

  State(int fd_to_copy, std::function<std::string(size_t)> gap_line, size_t most)
      : fd(fd_to_copy < 0 ? -1 : ::fcntl(fd_to_copy, F_DUPFD_CLOEXEC, 3)),
        event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        gap(std::move(gap_line)),
        most_bytes(most) {}

  const Fd fd;
  const Fd event;
  const std::function<std::string(size_t)> gap;
  const size_t most_bytes;

  mutable Mutex mu;
  CondVar changed;
  std::deque<Block> blocks TB_GUARDED_BY(mu);
  size_t queued TB_GUARDED_BY(mu) = 0;    // bytes of `blocks`
  size_t writing TB_GUARDED_BY(mu) = 0;   // bytes of the block that the thread writes
  size_t left_out TB_GUARDED_BY(mu) = 0;  // lines before the next block that is added
  bool closed TB_GUARDED_BY(mu) = false;
  bool ended TB_GUARDED_BY(mu) = false;  // the queue is destroyed
  bool reports_progress TB_GUARDED_BY(mu) = false;

  void Signal() const {
    const uint64_t one = 1;
    (void)!::write(event.get(), &one, sizeof one);
  }
  void LeaveOutOldest() TB_REQUIRES(mu) {
    for (;;) {
      const auto oldest =
          std::find_if(blocks.begin(), blocks.end(), [](const auto& block) { return block.loss == Loss::kAllowed; });
      if (oldest == blocks.end() || queued - oldest->text.size() < most_bytes) return;
      const size_t lines = oldest->left_out_before + oldest->lines;
      queued -= oldest->text.size();
      const auto next = blocks.erase(oldest);
      (next == blocks.end() ? left_out : next->left_out_before) += lines;
    }
  }
};

OutputQueue::OutputQueue(int fd, std::function<std::string(size_t)> gap, size_t most_bytes)
    : state_(std::make_shared<State>(fd, std::move(gap), most_bytes)) {}

OutputQueue::~OutputQueue() {
  if (!thread_.joinable()) return;
  bool is_writing = false;
  {
    MutexLock lock(state_->mu);
    state_->ended = true;
    state_->changed.NotifyAll();
    is_writing = state_->writing > 0;
  }
  // A write may never end, so the thread shares the ownership of the state.
  if (is_writing) {
    thread_.Detach();
  } else {
    thread_.Join();
  }
}

void OutputQueue::Add(std::string_view lines, Loss loss) {
  if (!state_->fd.is_open() || lines.empty()) return;
  if (!thread_.joinable()) thread_ = Thread("tb-output", [state = state_] { WriteBlocks(state); });
  MutexLock lock(state_->mu);
  if (state_->closed) return;
  auto& blocks = state_->blocks;
  if (blocks.empty() || blocks.back().loss != loss || blocks.back().text.size() + lines.size() > PIPE_BUF) {
    blocks.push_back({.text = "", .lines = 0, .loss = loss, .left_out_before = std::exchange(state_->left_out, 0)});
  }
  blocks.back().text += lines;
  blocks.back().lines += 1;
  state_->queued += lines.size();
  state_->LeaveOutOldest();
  state_->changed.NotifyAll();
}

bool OutputQueue::is_closed() const {
  MutexLock lock(state_->mu);
  return state_->closed;
}

size_t OutputQueue::unwritten() const {
  MutexLock lock(state_->mu);
  return state_->queued + state_->writing;
}

const Fd& OutputQueue::event() const { return state_->event; }

void OutputQueue::ReportProgress() {
  MutexLock lock(state_->mu);
  state_->reports_progress = true;
  uint64_t ignored;
  if (!state_->closed) (void)!::read(state_->event.get(), &ignored, sizeof ignored);
}

void OutputQueue::WriteBlocks(const std::shared_ptr<State>& state) {
  for (;;) {
    State::Block block;
    {
      MutexLock lock(state->mu);
      state->changed.Wait(state->mu, [&]() TB_REQUIRES(state->mu) { return !state->blocks.empty() || state->ended; });
      if (state->ended) return;
      block = std::move(state->blocks.front());
      state->blocks.pop_front();
      state->queued -= block.text.size();
      if (block.left_out_before > 0) block.text.insert(0, state->gap(block.left_out_before));
      state->writing = block.text.size();
    }
    const int error = WriteOutput(state->fd.get(), block.text);
    MutexLock lock(state->mu);
    state->writing = 0;
    if (error == EPIPE) {
      state->closed = true;
      state->blocks.clear();
      state->queued = 0;
    }
    if (state->closed || state->reports_progress) state->Signal();
    if (state->closed) return;
  }
}

}  // namespace tensorbraid
