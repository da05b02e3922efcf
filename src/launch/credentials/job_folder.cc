#include "launch/credentials/job_folder.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "core/system/host_name.h"
#include "core/text/strings.h"
#include "core/values/fingerprint.h"
#include "launch/credentials/new_file.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;

// The names of the folders of processes that this process can see: they end with the pid of the owner, '-' and random
// letters. The directory may be one that other machines and containers have, too, whose pids mean nothing here.
std::string Prefix() {
  char processes[64] = "";
  if (::readlink("/proc/self/ns/pid", processes, sizeof processes - 1) < 0) processes[0] = '\0';
  const uint64_t here = Fingerprint64(StrCat(HostName(), " ", static_cast<const char*>(processes)));
  return absl::StrFormat("tensorbraid-job-%08x-", static_cast<uint32_t>(here));
}

std::string Parent() {
  for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* path = ::getenv(name);
    if (path != nullptr && ::access(path, W_OK | X_OK) == 0) return path;
  }
  return "/tmp";
}

// Removes the folders of this user's processes that no longer run.
void RemoveLeftovers(const std::string& parent, const std::string& prefix) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error); !error && entry != fs::end(entry); entry.increment(error)) {
    const std::string name = entry->path().filename();
    struct stat info;
    if (!name.starts_with(prefix) || ::lstat(entry->path().c_str(), &info) != 0) continue;
    if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) continue;
    int pid = 0;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), pid);
    if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
    std::error_code ignored;
    fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace

StatusOr<JobFolder> JobFolder::Make() {
  const std::string parent = Parent();
  const std::string prefix = Prefix();
  RemoveLeftovers(parent, prefix);
  std::string path = StrCat(parent, "/", prefix, ::getpid(), "-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, StrCat("cannot make a folder for keys in '", parent, "'"));
  }
  return JobFolder(path);
}

Status JobFolder::Add(const std::map<std::string, std::string>& files) const {
  for (const auto& [name, content] : files) {
    if (name.empty() || name.find('/') != std::string::npos)
      return InvalidArgument("'", name, "' is no name of a file");
    TF_RETURN_IF_ERROR(WriteNewFile(StrCat(path_, "/", name), content, 0600));
  }
  return OkStatus();
}

JobFolder::~JobFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace tensorbraid
