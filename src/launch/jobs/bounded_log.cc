#include "launch/jobs/bounded_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "core/text/strings.h"
#include "launch/processes/write_all.h"

namespace tensorbraid {

StatusOr<BoundedLog> BoundedLog::Open(const std::string& path, uint64_t max_bytes) {
  BoundedLog log(path, max_bytes);
  TF_RETURN_IF_ERROR(log.OpenFile());
  return log;
}

Status BoundedLog::OpenFile() {
  fd_ = Fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  struct stat info {};
  if (!fd_.is_open() || ::fstat(fd_.get(), &info) != 0) {
    return absl::ErrnoToStatus(errno, StrCat("cannot write '", path_, "'"));
  }
  size_ = static_cast<uint64_t>(info.st_size);
  return OkStatus();
}

Status BoundedLog::Write(std::string_view lines) {
  const std::string what = StrCat("cannot write '", path_, "'");
  if (size_ > 0 && size_ + lines.size() > max_bytes_ / 2) {
    if (::rename(path_.c_str(), (path_ + ".1").c_str()) != 0) return absl::ErrnoToStatus(errno, what);
    TF_RETURN_IF_ERROR(OpenFile());
  }
  if (const int error = WriteAll(fd_.get(), lines); error != 0) return absl::ErrnoToStatus(error, what);
  size_ += lines.size();
  return OkStatus();
}

Status CopyLog(const std::string& path, int fd) {
  bool found = false;
  for (const std::string& name : {path + ".1", path}) {
    const Fd file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) continue;
    found = true;
    std::array<char, 65536> bytes;
    for (ssize_t got; (got = ::read(file.get(), bytes.data(), bytes.size())) > 0;) {
      WriteAll(fd, {bytes.data(), static_cast<size_t>(got)});
    }
  }
  return found ? OkStatus() : absl::NotFoundError(StrCat("there is no log '", path, "'"));
}

}  // namespace tensorbraid
