#include "launch/credentials/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/system/fd.h"
#include "core/text/strings.h"

namespace tensorbraid {

Status WriteNewFile(const std::string& path, std::string_view bytes, mode_t mode) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file.is_open()) {
    if (errno == EEXIST) return AlreadyExists("'", path, "' exists and is not overwritten");
    return absl::ErrnoToStatus(errno, StrCat("cannot create '", path, "'"));
  }
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const Status status = absl::ErrnoToStatus(errno, StrCat("cannot write '", path, "'"));
      ::unlink(path.c_str());
      return status;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

}  // namespace tensorbraid
