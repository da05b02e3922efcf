// Limits which files the work of a thread may use.
//
// A graph that a client on another machine has sent may use files in certain directories only (docs/security.md). The
// limit is a property of the thread that runs a kernel. The executor of such a graph sets the limit. Work that the
// thread hands to other threads (ThreadPool, RunAtLowPriority) inherits it. The operating system's Env, the one place
// that opens files for the library, enforces it, so no op has to check it. A thread that does work for another session,
// for example because it wakes that session's kernel, must set the other session's limit.
#ifndef TENSORBRAID_CORE_SYSTEM_FILE_ACCESS_H_
#define TENSORBRAID_CORE_SYSTEM_FILE_ACCESS_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "core/system/fd.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The directories that limited work may use, with everything beneath them. Immutable.
class FileAccess {
 public:
  // Allows nothing.
  FileAccess() = default;
  // Relative paths are relative to the current directory. Returns the system's error, naming --allow_path, if one of
  // `directories` is not a directory.
  static StatusOr<FileAccess> Create(const std::vector<std::string>& directories);

  // Opens a file as open() does, but only if it is beneath one of the directories. The system itself refuses to leave
  // the directory through "..", symbolic links or anything else, even if they change at the same time.
  // PermissionDenied, naming the path and --allow_path, if the path leads out of the directories. Other errors are the
  // system's.
  StatusOr<Fd> Open(const std::string& path, int flags, mode_t mode) const;
  // Opens the directory that contains `path`, and sets `name` to the last part of the path, which is never "..". For
  // the allowed directories themselves, opens the directory and sets `name` to ".".
  StatusOr<Fd> OpenParent(const std::string& path, std::string* name) const;
  // PermissionDenied if no match of a pattern can be beneath the directories.
  Status CheckPattern(const std::string& pattern) const;

 private:
  // Returns the allowed directory that `path` begins with, or null. Sets `*rest` to the rest of the path, or to "." if
  // nothing follows the directory.
  const std::string* Find(const std::string& path, std::string* rest) const;
  Status Refusal(const std::string& path) const;

  std::vector<std::string> directories_;  // absolute, without '/' at the end
};

// The limit for the current thread; null if there is none.
const FileAccess* CurrentFileAccess();

// Sets the limit for the current thread while this object exists. If `access` is null, the thread has no limit.
// `access` must outlive this object and all work that the thread hands to other threads meanwhile.
class ScopedFileAccess {
 public:
  explicit ScopedFileAccess(const FileAccess* access);
  ~ScopedFileAccess();
  ScopedFileAccess(const ScopedFileAccess&) = delete;
  ScopedFileAccess& operator=(const ScopedFileAccess&) = delete;

 private:
  const FileAccess* const before_;
};

// Returns a closure for another thread that runs `work` under the limit of the current thread.
std::function<void()> WithCurrentFileAccess(std::function<void()> work);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_FILE_ACCESS_H_
