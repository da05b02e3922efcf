// Reads and writes whole files, and handles paths. The primitives are in core/system/env.h.
#ifndef TENSORBRAID_IO_FILE_H_
#define TENSORBRAID_IO_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// All functions here are thread-safe, block for as long as the file system does, and return the system's error with the
// path: NotFound, PermissionDenied, FailedPrecondition for a directory, ...

// Paths may have the form "file:///path".
StatusOr<std::string> ReadFile(const std::string& path);
// Creates or replaces the file, and creates missing directories of its path.
Status WriteFile(const std::string& path, std::string_view bytes);
// Returns the sorted paths that match a pattern with *, ? and []. No match is not an error. A * does not match '/'.
StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern);
// Creates the directory, but not its parents. OK if the name exists already. When this returns, the name of a new
// directory is on the disk, so a loss of power does not remove the directory and the synced files in it.
Status MakeDirectory(const std::string& path);
// As MakeDirectory, but also creates missing parents.
Status MakeDirectories(const std::string& path);
bool FileExists(const std::string& path);

// "a/b" for "a/b/c", "" for "c".
std::string DirectoryOf(const std::string& path);
// "a/b" for "a" and "b". `name` itself if it is absolute or `directory` is empty.
std::string JoinPath(const std::string& directory, const std::string& name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_FILE_H_
