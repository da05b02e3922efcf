#include "checkpoint/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>

#include "core/strings.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

constexpr size_t kBufferSize = 1 << 18;

Status SystemError(const char* what, const std::string& path) {
  return absl::ErrnoToStatus(errno, StrCat(what, " ", path));
}

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("cannot write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<AtomicFile>> AtomicFile::Create(const std::string& path) {
  std::random_device random;
  while (true) {
    const uint64_t number = uint64_t{random()} << 32 | random();
    std::string temporary = StrCat(path, ".tempstate", number);
    const int fd = ::open(LocalPath(temporary).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return std::unique_ptr<AtomicFile>(new AtomicFile(path, std::move(temporary), fd));
    if (errno != EEXIST) return SystemError("cannot create", path);
  }
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(LocalPath(temporary_).c_str());
}

Status AtomicFile::Append(std::string_view bytes) {
  synced_ = false;
  if (buffer_.size() + bytes.size() < kBufferSize) {
    buffer_.append(bytes);
    return OkStatus();
  }
  TF_RETURN_IF_ERROR(Flush());
  return WriteAll(fd_, bytes, path_);
}

Status AtomicFile::Flush() {
  const Status status = WriteAll(fd_, buffer_, path_);
  buffer_.clear();
  return status;
}

Status AtomicFile::Sync() {
  TF_RETURN_IF_ERROR(Flush());
  if (::fsync(fd_) != 0) return SystemError("cannot write", path_);
  synced_ = true;
  return OkStatus();
}

Status AtomicFile::Commit() {
  if (!synced_) TF_RETURN_IF_ERROR(Sync());
  TF_RETURN_IF_ERROR(RenameFile(temporary_, path_));
  ::close(fd_);
  fd_ = -1;
  return SyncDirectory(DirectoryOf(path_));
}

StatusOr<std::unique_ptr<RandomAccessFile>> RandomAccessFile::Open(const std::string& path) {
  // Not blocking: opening a pipe would wait for its other end.
  const int fd = ::open(LocalPath(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return SystemError("cannot open", path);
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    const Status status = SystemError("cannot read", path);
    ::close(fd);
    return status;
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return FailedPrecondition(path, " is not a regular file");
  }
  return std::unique_ptr<RandomAccessFile>(new RandomAccessFile(path, fd, static_cast<uint64_t>(info.st_size)));
}

RandomAccessFile::~RandomAccessFile() { ::close(fd_); }

Status RandomAccessFile::Read(uint64_t offset, size_t size, void* out) const {
  char* to = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t got = ::pread(fd_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot read", path_);
    if (got == 0) return DataLoss(path_, " ends ", size, " bytes too early");
    to += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return OkStatus();
}

StatusOr<std::string> ReadWholeFile(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  std::string bytes(file->size(), '\0');
  TF_RETURN_IF_ERROR(file->Read(0, bytes.size(), bytes.data()));
  return bytes;
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  TF_ASSIGN_OR_RETURN(const auto file, AtomicFile::Create(path));
  TF_RETURN_IF_ERROR(file->Append(bytes));
  return file->Commit();
}

Status RenameFile(const std::string& from, const std::string& to) {
  if (::rename(LocalPath(from).c_str(), LocalPath(to).c_str()) == 0) return OkStatus();
  return absl::ErrnoToStatus(errno, StrCat("cannot rename ", from, " to ", to));
}

Status RemoveFile(const std::string& path) {
  if (::unlink(LocalPath(path).c_str()) == 0 || errno == ENOENT) return OkStatus();
  return SystemError("cannot remove", path);
}

Status MakeDirectory(const std::string& path) {
  if (path.empty() || ::mkdir(LocalPath(path).c_str(), 0777) == 0 || errno == EEXIST) return OkStatus();
  return SystemError("cannot make the directory", path);
}

Status SyncDirectory(const std::string& path) {
  const std::string directory = path.empty() ? "." : path;
  const int fd = ::open(LocalPath(directory).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return SystemError("cannot open", directory);
  // Some file systems cannot; what they keep then is up to them.
  const bool failed = ::fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS;
  const Status status = failed ? SystemError("cannot sync", directory) : OkStatus();
  ::close(fd);
  return status;
}

bool FileExists(const std::string& path) { return ::access(LocalPath(path).c_str(), F_OK) == 0; }

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return "";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string JoinPath(const std::string& directory, const std::string& name) {
  if (directory.empty() || name.starts_with('/')) return name;
  return directory.ends_with('/') ? directory + name : StrCat(directory, "/", name);
}

}  // namespace tensorbraid
