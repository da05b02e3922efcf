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

StatusOr<std::string> ReadFile(const std::string& path);
// Makes or replaces the file, and makes the directories it lies in.
Status WriteFile(const std::string& path, std::string_view bytes);
// The paths that a pattern with *, ? and [] fits, sorted; none is no error. A * fits no '/'.
StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern);

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_FILE_H_
