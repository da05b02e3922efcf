#include "core/system/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_format.h"
#include "core/text/strings.h"

namespace tensorbraid {

Status CheckIsSecret(const std::string& flag, const std::string& path) {
  struct stat info {};
  if (::fstatat(AT_FDCWD, path.c_str(), &info, 0) != 0) return OkStatus();
  const uid_t own = ::geteuid();
  if (info.st_uid != own && info.st_uid != 0) {
    return InvalidArgument(flag, ": the file '", path, "' belongs to user ", info.st_uid, ", and this process runs as ",
                           "user ", own, ": a secret must belong to the user who uses it, or to root; copy it with ",
                           "'install -m 600 ", path, " COPY'");
  }
  const mode_t allowed = info.st_uid == 0 ? S_IRGRP : 0;
  const mode_t open = info.st_mode & (S_IRWXG | S_IRWXO) & ~(allowed | S_IXGRP | S_IXOTH);
  if (open == 0) return OkStatus();
  return InvalidArgument(flag, ": other users can ", (open & (S_IWGRP | S_IWOTH)) != 0 ? "write" : "read",
                         " the file '", path, "' (mode ", absl::StrFormat("%04o", info.st_mode & 07777),
                         "): run 'chmod 600 ", path,
                         "'; for a mounted secret of Kubernetes set defaultMode: 0400, or 0440 with fsGroup");
}

}  // namespace tensorbraid
