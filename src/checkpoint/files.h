// Files as checkpoints need them: written under another name until they are whole and on the disk, read at any place.
#ifndef TENSORBRAID_CHECKPOINT_FILES_H_
#define TENSORBRAID_CHECKPOINT_FILES_H_

#include <memory>
#include <string>
#include <string_view>

#include "tensorbraid/status.h"

namespace tensorbraid {

// Paths may be written as "file:///path". All of this returns the system's errors, with the path (NotFound,
// PermissionDenied, ResourceExhausted when the disk is full, ...), and blocks as long as the file system does.

// A file that comes to be at once: what is written goes to a temporary name beside it until Commit. Not thread-safe.
class AtomicFile {
 public:
  static StatusOr<std::unique_ptr<AtomicFile>> Create(const std::string& path);
  ~AtomicFile();  // Removes the temporary file unless it was committed.
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  Status Append(std::string_view bytes);
  // Waits until all is on the disk.
  Status Sync();
  // Syncs, then gives the file its name, in place of a file that has it.
  Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}
  Status Flush();

  const std::string path_;
  const std::string temporary_;
  int fd_;
  bool synced_ = false;
  std::string buffer_;
};

// Thread-safe.
class RandomAccessFile {
 public:
  // FailedPrecondition for what is no regular file.
  static StatusOr<std::unique_ptr<RandomAccessFile>> Open(const std::string& path);
  ~RandomAccessFile();
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  const std::string& path() const { return path_; }
  // When it was opened.
  uint64_t size() const { return size_; }
  // DataLoss when the file ends before.
  Status Read(uint64_t offset, size_t size, void* out) const;

 private:
  RandomAccessFile(std::string path, int fd, uint64_t size) : path_(std::move(path)), fd_(fd), size_(size) {}
  const std::string path_;
  const int fd_;
  const uint64_t size_;
};

// Everything in a file.
StatusOr<std::string> ReadWholeFile(const std::string& path);
// AtomicFile in one call.
Status WriteFileAtomically(const std::string& path, std::string_view bytes);
Status RenameFile(const std::string& from, const std::string& to);
// OK when it is not there.
Status RemoveFile(const std::string& path);
// The directory itself, not those above it; OK when it is there.
Status MakeDirectory(const std::string& path);
// Waits until the names in a directory are on the disk. "" is the working directory.
Status SyncDirectory(const std::string& path);
bool FileExists(const std::string& path);
// "a/b" of "a/b/c", "" of "c".
std::string DirectoryOf(const std::string& path);
std::string JoinPath(const std::string& directory, const std::string& name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_FILES_H_
