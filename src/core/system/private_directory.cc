#include "core/system/private_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_format.h"
#include "core/system/env.h"
#include "core/text/strings.h"

namespace tensorbraid {

Status MakePrivateDirectory(const std::string& path) {
  const std::string local = LocalPath(path);
  if (::mkdirat(AT_FDCWD, local.c_str(), 0700) == 0) return OkStatus();
  if (errno != EEXIST) return absl::ErrnoToStatus(errno, StrCat("cannot make the directory '", path, "'"));
  struct stat info {};
  if (::fstatat(AT_FDCWD, local.c_str(), &info, 0) != 0) return absl::ErrnoToStatus(errno, StrCat("'", path, "'"));
  if (!S_ISDIR(info.st_mode)) return FailedPrecondition("'", path, "' is not a directory");
  if (info.st_uid != ::geteuid()) {
    return FailedPrecondition("the directory '", path, "' belongs to user ", info.st_uid,
                              ", and this process runs as user ", ::geteuid(),
                              ", which must own a directory to trust its files: choose another one");
  }
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) == 0) return OkStatus();
  return FailedPrecondition("other users have rights to the directory '", path, "' (mode ",
                            absl::StrFormat("%04o", info.st_mode & 07777), "): run 'chmod 700 ", path, "'");
}

Status WritePrivateFile(const std::string& path, std::string_view bytes) {
  Env& env = Env::Default();
  const std::string next = StrCat(path, ".", absl::StrFormat("%016x", RandomSeed()), ".new");
  TF_ASSIGN_OR_RETURN(const auto file, env.OpenWritable(next, Env::WriteMode::kCreate));
  Status status = ::fchmodat(AT_FDCWD, LocalPath(next).c_str(), 0600, 0) == 0
                      ? OkStatus()
                      : absl::ErrnoToStatus(errno, StrCat("cannot set the mode of '", next, "'"));
  if (status.ok()) status = file->Append(bytes);
  if (status.ok()) status = file->Close();
  if (status.ok()) status = env.RenameFile(next, path);
  if (!status.ok()) env.RemoveFile(next).IgnoreError();
  return status;
}

}  // namespace tensorbraid
