// Signals that a program reads from a descriptor instead of being interrupted by them.
#ifndef TENSORBRAID_LAUNCH_PROCESSES_BLOCKED_SIGNALS_H_
#define TENSORBRAID_LAUNCH_PROCESSES_BLOCKED_SIGNALS_H_

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>

#include "core/system/fd.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// While an object of this class exists, SIGINT, SIGTERM and SIGHUP are blocked in this thread, and SIGPIPE is ignored.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&mask_);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&mask_, signal);
    ::pthread_sigmask(SIG_BLOCK, &mask_, &old_mask_);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &old_pipe_);
    fd_ = Fd(::signalfd(-1, &mask_, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_.is_open()) status_ = absl::ErrnoToStatus(errno, "cannot watch signals");
  }
  ~BlockedSignals() {
    ::sigaction(SIGPIPE, &old_pipe_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // The system's error if the signals cannot be read.
  const Status& status() const { return status_; }
  // Readable when a signal has arrived.
  const Fd& fd() const { return fd_; }
  // Calls `handle` for each signal that has arrived.
  void Read(const std::function<void(int)>& handle) const {
    signalfd_siginfo info;
    while (::read(fd_.get(), &info, sizeof info) == sizeof info) handle(static_cast<int>(info.ssi_signo));
  }

 private:
  sigset_t mask_;
  sigset_t old_mask_;
  struct sigaction old_pipe_ {};
  Fd fd_;
  Status status_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_PROCESSES_BLOCKED_SIGNALS_H_
