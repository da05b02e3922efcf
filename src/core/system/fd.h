// A file descriptor that closes itself.
#ifndef TENSORBRAID_CORE_SYSTEM_FD_H_
#define TENSORBRAID_CORE_SYSTEM_FD_H_

#include <unistd.h>

#include <utility>

namespace tensorbraid {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { Close(); }

  // -1 when there is none, for example after a failed call.
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // The result of close(), 0 if there is none to close.
  int Close() { return fd_ >= 0 ? ::close(std::exchange(fd_, -1)) : 0; }
  // Gives the descriptor away.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_FD_H_
