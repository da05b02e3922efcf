// An open file descriptor of the operating system.
#ifndef TENSORBRAID_CORE_DESCRIPTOR_H_
#define TENSORBRAID_CORE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace tensorbraid {

// Closes the descriptor at the end of its life. A negative number stands for none.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return fd_; }
  // Gives the descriptor away.
  int Release() { return std::exchange(fd_, -1); }
  // Returns the result of close().
  int Close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_DESCRIPTOR_H_
