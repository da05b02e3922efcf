// Files for checkpoints: written under a temporary name until they are complete and on the disk.
#ifndef TENSORBRAID_CHECKPOINT_FILES_H_
#define TENSORBRAID_CHECKPOINT_FILES_H_

#include <memory>
#include <string>
#include <string_view>

#include "core/system/env.h"
#include "io/file.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Paths may have the form "file:///path". All functions here return the system's errors with the path (NotFound,
// PermissionDenied, ResourceExhausted when the disk is full, ...), and block for as long as the file system does.

// A temporary file for PATH is called PATH.tempstateNUMBER.
inline constexpr std::string_view kTemporarySuffix = ".tempstate";

// Writes a file atomically: the bytes go to a temporary file beside it until Commit, so readers see the old content or
// the new, never a part. Not thread-safe.
class AtomicFile {
 public:
  static StatusOr<std::unique_ptr<AtomicFile>> Create(const std::string& path);
  ~AtomicFile();  // Removes the temporary file unless it was committed.
  // Removes the temporary files that any process has for `path`. Their Commit returns NotFound.
  static Status RemoveTemporaryFiles(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Announces that a large number of bytes will be appended (WritableFile::BypassPageCache).
  void BypassPageCache() { file_->BypassPageCache(); }
  Status Append(std::string_view bytes);
  // Waits until all appended bytes are on the disk.
  Status Sync();
  // Syncs, then renames the temporary file to `path`, replacing a file of that name.
  Status Commit() { return CommitAs(path_); }
  // As Commit, with another name in the same directory.
  Status CommitAs(const std::string& path);
  // Whether Commit has renamed the file. This is true even if the sync of the directory failed afterwards.
  bool renamed() const { return file_ == nullptr; }

 private:
  AtomicFile(std::string path, std::string temporary, std::unique_ptr<WritableFile> file)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(std::move(file)) {}
  Status Flush();

  const std::string path_;
  const std::string temporary_;
  std::unique_ptr<WritableFile> file_;  // null once it has been renamed
  bool synced_ = false;
  std::string buffer_;
};

// Returns the whole content of a file.
StatusOr<std::string> ReadWholeFile(const std::string& path);
// Writes a whole file with AtomicFile.
Status WriteFileAtomically(const std::string& path, std::string_view bytes);
Status RenameFile(const std::string& from, const std::string& to);
// Removes a file. OK if it does not exist.
Status RemoveFile(const std::string& path);
// Removes a directory that is empty. OK if it does not exist.
Status RemoveDirectory(const std::string& path);
// Waits until the names of a directory's files are on the disk. "" is the working directory.
Status SyncDirectory(const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_FILES_H_
