// What the library asks of the operating system: time, waits, threads, files and random seeds.
//
// All of it passes through one object per process, so that a test can replace it with clocks that the test moves, with
// files that fail or lose what was not synced, and with seeds that repeat. Code uses the small headers clock.h, mutex.h
// and thread.h and the functions here; scripts/check_style rejects direct use of the system elsewhere. Sockets are not
// part of Env: tests replace whole transports instead (transport/transport.h).
#ifndef TENSORBRAID_CORE_SYSTEM_ENV_H_
#define TENSORBRAID_CORE_SYSTEM_ENV_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "core/system/clock.h"
#include "core/threads/thread.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Functions of files return the system's errors with the path (NotFound, PermissionDenied, FailedPrecondition for a
// directory, ResourceExhausted when the disk is full, ...), and block for as long as the file system does.

// Converts "file:///path", a form that TensorFlow's programs may use, to the path that the system expects. Returns
// other paths unchanged. All functions of Env accept both forms.
std::string LocalPath(std::string_view path);

// A file, or a pipe, that is read from front to back. Used by one thread at a time.
class SequentialFile {
 public:
  virtual ~SequentialFile() = default;
  // Reads up to `size` bytes and returns their number. 0 means that the file has ended; a number below `size` does not.
  virtual StatusOr<size_t> Read(size_t size, char* out) = 0;
};

// A file that is read at any offset. Thread-safe, except for BypassPageCache.
class RandomAccessFile {
 public:
  // Env::OpenRandomAccess of the current environment.
  static StatusOr<std::unique_ptr<RandomAccessFile>> Open(const std::string& path);
  virtual ~RandomAccessFile() = default;
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;

  const std::string& path() const { return path_; }
  // Size in bytes when the file was opened.
  uint64_t size() const { return size_; }
  // From now on, where the file system can do so, reads bypass the operating system's page cache. For many bytes that
  // will not be read again soon, this costs less CPU time and leaves the cache to other files. Reads should then be
  // large, with offsets and memory at multiples of kDirectAlignment (core/system/direct_block.h); others are slow. Does
  // nothing by default. REQUIRES: no other thread uses the file during the call.
  virtual void BypassPageCache() {}
  // Reads exactly `size` bytes. DataLoss if the file ends before them.
  virtual Status Read(uint64_t offset, size_t size, void* out) const = 0;

 protected:
  RandomAccessFile(std::string path, uint64_t size) : path_(std::move(path)), size_(size) {}

 private:
  const std::string path_;
  const uint64_t size_;
};

// A file that is written from front to back, without a buffer. Used by one thread at a time. The destructor closes it.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  // From now on, where the file system can do so, appended bytes bypass the operating system's page cache. For many
  // bytes that will not be read soon, this costs far less CPU time and leaves the cache to other files. Appended bytes
  // may then wait in a buffer until Sync or Close. Does nothing by default.
  virtual void BypassPageCache() {}
  virtual Status Append(std::string_view bytes) = 0;
  // Waits until all appended bytes are on the disk.
  virtual Status Sync() = 0;
  // Closes the file, and returns an error that the system reports only then.
  virtual Status Close() = 0;
};

struct FileInfo {
  bool is_regular = false;
  bool is_directory = false;
  uint64_t size = 0;
  WallClock::time_point modified;
};

// Thread-safe.
class Env {
 public:
  // The environment of this process: System(), unless SetDefault has installed another.
  static Env& Default();
  // The operating system. Never destroyed.
  static Env& System();
  // Installs `env`, or System() if `env` is null. Returns the environment that was installed before, or null if that
  // was System(). REQUIRES: no other thread is using the library. `env` outlives everything created while it is
  // installed. For tests.
  static Env* SetDefault(Env* env);

  virtual ~Env() = default;

  // Time.
  virtual MonotonicClock::time_point MonotonicNow() = 0;
  virtual WallClock::time_point WallNow() = 0;
  virtual void SleepUntil(MonotonicClock::time_point time) = 0;

  // Condition variables; CondVar calls these. Wait may return early for no reason. A deadline of time_point::max()
  // never passes. `where` is the caller's line.
  virtual void Wait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock,
                    MonotonicClock::time_point deadline, std::source_location where) = 0;
  virtual void NotifyOne(std::condition_variable& cv) = 0;
  virtual void NotifyAll(std::condition_variable& cv) = 0;

  // Waits until `ready` returns true or `deadline` passes, and returns the last value of `ready`. This is for events
  // that another process causes, because that process cannot notify a condition variable. `block` waits in the
  // operating system for a change, at most until the deadline, and may return early. `ready` takes no lock. It may be
  // called often and on any thread.
  virtual bool WaitInSystem(const std::function<bool()>& ready, const std::function<void()>& block,
                            MonotonicClock::time_point deadline,
                            std::source_location where = std::source_location::current()) = 0;

  // Threads; Thread calls this.
  virtual std::unique_ptr<Thread::Handle> StartThread(const std::string& name, std::function<void()> body) = 0;
  virtual int NumCores() = 0;

  // Seeds for random numbers and unique ids.
  virtual uint64_t RandomSeed() = 0;

  // Files.
  enum class WriteMode {
    kReplace,  // create the file, or empty an existing one
    kCreate,   // AlreadyExists if the file exists
    kAppend,   // create the file, or continue an existing one
  };
  virtual StatusOr<std::unique_ptr<SequentialFile>> OpenSequential(const std::string& path) = 0;
  // FailedPrecondition if `path` is not a regular file.
  virtual StatusOr<std::unique_ptr<RandomAccessFile>> OpenRandomAccess(const std::string& path) = 0;
  virtual StatusOr<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, WriteMode mode) = 0;
  virtual Status RenameFile(const std::string& from, const std::string& to) = 0;
  virtual Status RemoveFile(const std::string& path) = 0;
  virtual StatusOr<FileInfo> Stat(const std::string& path) = 0;
  // Creates the directory, but not its parents. AlreadyExists if there is a file or directory of that name.
  virtual Status MakeDirectory(const std::string& path) = 0;
  // FailedPrecondition if the directory is not empty.
  virtual Status RemoveDirectory(const std::string& path) = 0;
  // Waits until the names of a directory's files are on the disk. OK on file systems that cannot do this.
  virtual Status SyncDirectory(const std::string& path) = 0;
  // Returns the sorted paths that match a pattern with *, ? and []. No match is not an error. A * does not match '/'.
  virtual StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern) = 0;
  // Resolves a relative path against the working directory. Returns absolute paths, "file://" paths and "" unchanged.
  virtual StatusOr<std::string> AbsolutePath(const std::string& path) = 0;
};

// Env::RandomSeed of the current environment.
inline uint64_t RandomSeed() { return Env::Default().RandomSeed(); }

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_ENV_H_
