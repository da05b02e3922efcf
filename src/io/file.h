// Whole files, and names of files.
#ifndef TENSORBRAID_IO_FILE_H_
#define TENSORBRAID_IO_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/status.h"

namespace tensorbraid {

// All these are thread-safe, block for as long as the file system does, and return the system's error, with the path:
// NotFound, PermissionDenied, FailedPrecondition for a directory, ...

// A path as it is or as "file:///path", as TensorFlow's programs may write it, for the system: as it is.
inline std::string LocalPath(std::string_view path) {
  constexpr std::string_view kScheme = "file://";
  return std::string(path.starts_with(kScheme) ? path.substr(kScheme.size()) : path);
}

// All of these take either form.
StatusOr<std::string> ReadFile(const std::string& path);
// Makes or replaces the file, and makes the directories it lies in.
Status WriteFile(const std::string& path, std::string_view bytes);
// The paths that a pattern with *, ? and [] fits, sorted; none is no error. A * fits no '/'.
StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern);

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_FILE_H_
