#include "launch/credentials/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/system/fd.h"
#include "core/text/strings.h"
#include "launch/processes/write_all.h"

namespace tensorbraid {

Status WriteNewFile(const std::string& path, std::string_view bytes, mode_t mode) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file.is_open()) {
    if (errno == EEXIST) return AlreadyExists("'", path, "' exists and is not overwritten");
    return absl::ErrnoToStatus(errno, StrCat("cannot create '", path, "'"));
  }
  const int error = WriteAll(file.get(), bytes);
  if (error == 0) return OkStatus();
  ::unlink(path.c_str());
  return absl::ErrnoToStatus(error, StrCat("cannot write '", path, "'"));
}

}  // namespace tensorbraid
