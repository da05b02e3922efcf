#include "cli/launch/job_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>

#include "core/system/fd.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tensorbraid-job-";  // then the pid of the owner, and '-'

std::string Parent() {
  for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* path = ::getenv(name);
    if (path != nullptr && ::access(path, W_OK | X_OK) == 0) return path;
  }
  return "/tmp";
}

// Removes the folders of this user's processes that no longer run.
void RemoveLeftovers(const std::string& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename();
    struct stat info;
    if (!name.starts_with(kPrefix) || ::lstat(entry.path().c_str(), &info) != 0) continue;
    if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) continue;
    int pid = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), pid);
    if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
    fs::remove_all(entry.path(), error);
  }
}

}  // namespace

StatusOr<JobFolder> JobFolder::Make(const std::map<std::string, std::string>& files) {
  const std::string parent = Parent();
  RemoveLeftovers(parent);
  std::string path = StrCat(parent, "/", kPrefix, ::getpid(), "-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, StrCat("cannot make a folder for keys in '", parent, "'"));
  }
  JobFolder folder(path);
  for (const auto& [name, content] : files) {
    if (name.empty() || name.find('/') != std::string::npos)
      return InvalidArgument("'", name, "' is no name of a file");
    const std::string file = StrCat(path, "/", name);
    const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd.is_open()) return absl::ErrnoToStatus(errno, StrCat("cannot write '", file, "'"));
    if (::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
      return absl::ErrnoToStatus(errno, StrCat("cannot write '", file, "'"));
    }
  }
  return folder;
}

JobFolder::~JobFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace tensorbraid
