#include "io/file.h"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/strings.h"
#include "io/input_stream.h"

namespace tensorbraid {

StatusOr<std::string> ReadFile(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const auto stream, InputStream::Open(path));
  std::string bytes;
  TF_RETURN_IF_ERROR(stream->ReadAll(&bytes));
  return bytes;
}

Status WriteFile(const std::string& path, std::string_view bytes) {
  const std::filesystem::path directory = std::filesystem::path(LocalPath(path)).parent_path();
  std::error_code error;
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  if (error) return absl::ErrnoToStatus(error.value(), "cannot make directory " + directory.string());
  const int fd = ::open(LocalPath(path).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot open " + path);
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const Status status = absl::ErrnoToStatus(errno, "cannot write " + path);
      ::close(fd);
      return status;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return ::close(fd) == 0 ? OkStatus() : absl::ErrnoToStatus(errno, "cannot write " + path);
}

StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(LocalPath(pattern).c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths;
  if (result == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (result == GLOB_NOSPACE) return ResourceExhausted("too many files fit ", pattern);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace tensorbraid
