// A log file that does not grow without end.
#ifndef TENSORBRAID_LAUNCH_JOBS_BOUNDED_LOG_H_
#define TENSORBRAID_LAUNCH_JOBS_BOUNDED_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/system/fd.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Appends to a file. When it has reached half of the limit, it is renamed to PATH.1, in place of an older one, and
// begun again. So the files have the latest output, at least half of the limit and at most the limit. Not thread-safe.
class BoundedLog {
 public:
  // Creates or continues the file, for this user only.
  static StatusOr<BoundedLog> Open(const std::string& path, uint64_t max_bytes);
  BoundedLog(BoundedLog&&) = default;
  BoundedLog& operator=(BoundedLog&&) = default;

  // Appends whole lines. The system's error if they cannot be written, for example because the disk is full. Then they
  // are lost, and later lines may succeed again.
  Status Write(std::string_view lines);

 private:
  BoundedLog(std::string path, uint64_t max_bytes) : path_(std::move(path)), max_bytes_(max_bytes) {}
  Status OpenFile();

  std::string path_;
  uint64_t max_bytes_;
  uint64_t size_ = 0;
  Fd fd_;
};

// Copies what a BoundedLog holds to a file descriptor, the oldest first. NotFound if there is none.
Status CopyLog(const std::string& path, int fd);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_JOBS_BOUNDED_LOG_H_
