#include "core/system/file_access.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/system/env.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constinit thread_local const FileAccess* current_access = nullptr;

// Opens `path`, which is relative to `directory`, without leaving it.
int OpenBeneath(int directory, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  int fd;
  int attempts = 0;
  do {
    fd = static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how));
    // EAGAIN: something was renamed while the system checked that ".." does not leave the directory.
  } while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++attempts < 100)));
  return fd;
}

std::string WithoutSlashesAtEnd(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

StatusOr<FileAccess> FileAccess::Create(const std::vector<std::string>& directories) {
  FileAccess access;
  for (const std::string& directory : directories) {
    const auto info = Env::Default().Stat(directory);
    if (!info.ok()) return Annotate(info.status(), "--allow_path");
    if (!info->is_directory) return InvalidArgument("--allow_path: ", directory, " is not a directory");
    TF_ASSIGN_OR_RETURN(std::string absolute, Env::Default().AbsolutePath(LocalPath(directory)));
    access.directories_.push_back(WithoutSlashesAtEnd(std::move(absolute)));
  }
  return access;
}

const std::string* FileAccess::Find(const std::string& path, std::string* rest) const {
  const auto absolute = Env::Default().AbsolutePath(LocalPath(path));
  if (!absolute.ok() || absolute->empty()) return nullptr;
  const std::string* longest = nullptr;
  for (const std::string& directory : directories_) {
    if (!absolute->starts_with(directory) || (longest != nullptr && longest->size() >= directory.size())) continue;
    if (absolute->size() == directory.size() || (*absolute)[directory.size()] == '/') longest = &directory;
  }
  if (longest == nullptr) return nullptr;
  *rest = absolute->substr(longest->size());
  rest->erase(0, rest->find_first_not_of('/'));
  *rest = WithoutSlashesAtEnd(std::move(*rest));
  if (rest->empty()) *rest = ".";
  return longest;
}

Status FileAccess::Refusal(const std::string& path) const {
  return absl::PermissionDeniedError(
      StrCat("cannot use ", path, ": a graph from another machine may use files under --allow_path only, ",
             directories_.empty()
                 ? std::string("and this server has none")
                 : StrCat("here ", StrJoin(directories_, ", "), "; '..' and symbolic links must not lead out of it")));
}

StatusOr<Fd> FileAccess::Open(const std::string& path, int flags, mode_t mode) const {
  std::string rest;
  const std::string* const directory = Find(path, &rest);
  if (directory == nullptr) return Refusal(path);
  const Fd at(::openat(AT_FDCWD, StrCat(*directory, "/").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0) return absl::ErrnoToStatus(errno, StrCat("cannot open ", *directory));
  Fd file(OpenBeneath(at.get(), rest, flags, mode));
  if (file.get() >= 0) return file;
  if (errno == EXDEV || errno == ELOOP) return Refusal(path);
  if (errno == ENOSYS) {
    return absl::FailedPreconditionError(
        StrCat("cannot use ", path, " for a graph from another machine: --allow_path needs openat2 (Linux 5.6)"));
  }
  return absl::ErrnoToStatus(errno, StrCat("cannot open ", path));
}

StatusOr<Fd> FileAccess::OpenParent(const std::string& path, std::string* name) const {
  std::string rest;
  const std::string* const directory = Find(path, &rest);
  if (directory == nullptr) return Refusal(path);
  const size_t slash = rest.rfind('/');
  *name = slash == std::string::npos ? rest : rest.substr(slash + 1);
  if (*name == "..") return Refusal(path);
  const std::string parent =
      slash == std::string::npos ? *directory + "/" : StrCat(*directory, "/", rest.substr(0, slash));
  auto opened = Open(parent, O_PATH | O_DIRECTORY, 0);
  if (absl::IsPermissionDenied(opened.status())) return Refusal(path);
  return opened;
}

Status FileAccess::CheckPattern(const std::string& pattern) const {
  std::string rest;
  if (Find(pattern, &rest) == nullptr) return Refusal(pattern);
  const auto parts = StrSplit(rest, '/');
  return std::find(parts.begin(), parts.end(), "..") == parts.end() ? OkStatus() : Refusal(pattern);
}

const FileAccess* CurrentFileAccess() { return current_access; }

ScopedFileAccess::ScopedFileAccess(const FileAccess* access) : before_(std::exchange(current_access, access)) {}
ScopedFileAccess::~ScopedFileAccess() { current_access = before_; }

std::function<void()> WithCurrentFileAccess(std::function<void()> work) {
  if (current_access == nullptr) return work;
  return [access = current_access, work = std::move(work)]() mutable {
    const ScopedFileAccess scope(access);
    work();
    work = nullptr;  // its destructors run under the limit too
  };
}

}  // namespace tensorbraid
