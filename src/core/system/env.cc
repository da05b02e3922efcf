#include "core/system/env.h"

#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>
#include <utility>

#include "core/system/direct_block.h"
#include "core/system/file_access.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

// Null for the operating system, so that its clocks and waits need no virtual call.
std::atomic<Env*> installed{nullptr};

MonotonicClock::time_point SystemMonotonicNow() { return std::chrono::steady_clock::now(); }
WallClock::time_point SystemWallNow() { return std::chrono::system_clock::now(); }

void SystemWait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock, MonotonicClock::time_point deadline) {
  if (deadline == MonotonicClock::time_point::max()) {
    cv.wait(lock);
  } else {
    cv.wait_until(lock, deadline);
  }
}

Status SystemError(const char* what, const std::string& path) {
  return absl::ErrnoToStatus(errno, StrCat(what, " ", path));
}

// Opens a file if the current thread may use it (file_access.h).
StatusOr<Fd> OpenFile(const std::string& path, int flags, mode_t mode = 0) {
  if (const FileAccess* access = CurrentFileAccess()) return access->Open(path, flags, mode);
  Fd fd(::open(LocalPath(path).c_str(), flags | O_CLOEXEC, mode));
  if (fd.get() < 0) return SystemError("cannot open", path);
  return fd;
}

// A name and the directory in which to look for it: the arguments of system calls that change a directory's entries.
struct Place {
  Fd directory;  // not open: `name` is a whole path
  std::string name;
  int at() const { return directory.get() < 0 ? AT_FDCWD : directory.get(); }
};

StatusOr<Place> FindPlace(const std::string& path) {
  const FileAccess* const access = CurrentFileAccess();
  if (access == nullptr) return Place{Fd(-1), LocalPath(path)};
  std::string name;
  TF_ASSIGN_OR_RETURN(Fd parent, access->OpenParent(path, &name));
  return Place{std::move(parent), std::move(name)};
}

class SystemSequentialFile final : public SequentialFile {
 public:
  SystemSequentialFile(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  StatusOr<size_t> Read(size_t size, char* out) override {
    ssize_t got;
    do {
      got = ::read(fd_.get(), out, size);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return SystemError("cannot read", path_);
    return static_cast<size_t>(got);
  }

 private:
  const std::string path_;
  const Fd fd_;
};

// Whether the system has set or cleared O_DIRECT.
bool SetDirect(const Fd& fd, bool direct) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  return flags >= 0 && ::fcntl(fd.get(), F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

// O_DIRECT moves whole sectors at multiples of the sector size, from and to memory that is aligned to it. This is at
// least the sector size of any disk.
constexpr size_t kSectors = kDirectAlignment;

class SystemRandomAccessFile final : public RandomAccessFile {
 public:
  SystemRandomAccessFile(std::string path, Fd fd, uint64_t size)
      : RandomAccessFile(std::move(path), size), fd_(std::move(fd)) {}
  void BypassPageCache() override { is_direct_ = SetDirect(fd_, true); }
  Status Read(uint64_t offset, size_t size, void* out) const override {
    char* to = static_cast<char*>(out);
    DirectBlock block;  // for what is not aligned
    while (size > 0) {
      const bool direct = is_direct_;
      const size_t skipped = direct ? offset % kSectors : 0;
      const bool aligned = skipped == 0 && reinterpret_cast<uintptr_t>(to) % kSectors == 0 && size >= kSectors;
      size_t wanted = size;
      char* into = to;
      if (direct && aligned) {
        wanted = size / kSectors * kSectors;
      } else if (direct) {
        if (block == nullptr) block = MakeDirectBlock(kMostUnaligned);
        if (block == nullptr) return ResourceExhausted("there is no memory to read ", path());
        into = block.get();
        wanted = std::min(kMostUnaligned, (skipped + size + kSectors - 1) / kSectors * kSectors);
      }
      const ssize_t got = ::pread(fd_.get(), into, wanted, static_cast<off_t>(offset - skipped));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EINVAL && direct) {  // the file system requires another alignment
        is_direct_ = false;
        if (SetDirect(fd_, false)) continue;
      }
      if (got < 0) return SystemError("cannot read", path());
      if (static_cast<size_t>(got) <= skipped)
        return DataLoss(path(), " ends ", size, " bytes before the end of a read");
      const size_t read = std::min(size, static_cast<size_t>(got) - skipped);
      if (into != to) std::memcpy(to, into + skipped, read);
      to += read;
      offset += read;
      size -= read;
    }
    return OkStatus();
  }

 private:
  static constexpr size_t kMostUnaligned = size_t{1} << 20;
  const Fd fd_;
  mutable std::atomic<bool> is_direct_{false};
};

class SystemWritableFile final : public WritableFile {
 public:
  SystemWritableFile(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  void BypassPageCache() override {
    struct stat info {};
    if (block_ != nullptr || ::fstat(fd_.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    if (!SetDirect(true)) return;  // the file system cannot bypass the page cache
    block_ = MakeDirectBlock(kDirectBlock);
    (void)SetDirect(block_ != nullptr);
  }
  Status Append(std::string_view bytes) override {
    if (block_ == nullptr) return Write(bytes);
    while (!bytes.empty()) {
      if (filled_ == 0 && at_ % kDirectBlock == 0 && bytes.size() >= kDirectBlock &&
          reinterpret_cast<uintptr_t>(bytes.data()) % kSectors == 0) {  // no copy
        const size_t blocks = bytes.size() / kDirectBlock * kDirectBlock;
        TF_RETURN_IF_ERROR(Write(bytes.substr(0, blocks)));
        bytes.remove_prefix(blocks);
        continue;
      }
      // Blocks end at multiples of their size, so that all but the first and the last are aligned.
      const size_t piece = std::min(bytes.size(), kDirectBlock - (at_ + filled_) % kDirectBlock);
      std::memcpy(block_.get() + filled_, bytes.data(), piece);
      filled_ += piece;
      bytes.remove_prefix(piece);
      if ((at_ + filled_) % kDirectBlock == 0) TF_RETURN_IF_ERROR(Flush());
    }
    return OkStatus();
  }
  Status Sync() override {
    TF_RETURN_IF_ERROR(Flush());
    return ::fsync(fd_.get()) == 0 ? OkStatus() : SystemError("cannot write", path_);
  }
  Status Close() override {
    TF_RETURN_IF_ERROR(Flush());
    return fd_.Close() == 0 ? OkStatus() : SystemError("cannot write", path_);
  }

 private:
  Status Flush() { return Write({block_.get(), std::exchange(filled_, 0)}); }
  Status Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const bool aligned = at_ % kSectors == 0 && bytes.size() % kSectors == 0;
      if (is_direct_ && !aligned) (void)SetDirect(false);
      if (block_ != nullptr && can_be_direct_ && !is_direct_ && aligned) can_be_direct_ = SetDirect(true);
      const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0 && errno == EINVAL && is_direct_) {  // the file system requires another alignment
        can_be_direct_ = false;
        (void)SetDirect(false);
        continue;
      }
      if (written < 0) return SystemError("cannot write", path_);
      at_ += static_cast<uint64_t>(written);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return OkStatus();
  }
  bool SetDirect(bool direct) {
    if (!tensorbraid::SetDirect(fd_, direct)) return false;
    is_direct_ = direct;
    return true;
  }

  const std::string path_;
  Fd fd_;
  uint64_t at_ = 0;    // the number of bytes written
  DirectBlock block_;  // null until BypassPageCache
  size_t filled_ = 0;  // bytes in the block
  bool can_be_direct_ = true;
  bool is_direct_ = false;
};

class SystemThread final : public Thread::Handle {
 public:
  SystemThread(std::string name, std::function<void()> body)
      : thread_([name = std::move(name), body = std::move(body)] {
          pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
          body();
        }) {}
  void Join() override { thread_.join(); }
  void Detach() override { thread_.detach(); }

 private:
  std::thread thread_;
};

class SystemEnv final : public Env {
 public:
  MonotonicClock::time_point MonotonicNow() override { return SystemMonotonicNow(); }
  WallClock::time_point WallNow() override { return SystemWallNow(); }
  void SleepUntil(MonotonicClock::time_point time) override { std::this_thread::sleep_until(time); }

  void Wait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock, MonotonicClock::time_point deadline,
            std::source_location /*where*/) override {
    SystemWait(cv, lock, deadline);
  }
  void NotifyOne(std::condition_variable& cv) override { cv.notify_one(); }
  void NotifyAll(std::condition_variable& cv) override { cv.notify_all(); }

  bool WaitInSystem(const std::function<bool()>& ready, const std::function<void()>& block,
                    MonotonicClock::time_point deadline, std::source_location /*where*/) override {
    while (!ready()) {
      if (deadline != MonotonicClock::time_point::max() && MonotonicClock::now() >= deadline) return false;
      block();
    }
    return true;
  }

  std::unique_ptr<Thread::Handle> StartThread(const std::string& name, std::function<void()> body) override {
    return std::make_unique<SystemThread>(name, std::move(body));
  }
  int NumCores() override {
    // hardware_concurrency() is not used, because it counts all cores of the machine, also those that this process may
    // not use.
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));  // more cores than cpu_set_t has bits
  }

  uint64_t RandomSeed() override {
    std::random_device device;
    return uint64_t{device()} << 32 | device();
  }

  StatusOr<std::unique_ptr<SequentialFile>> OpenSequential(const std::string& path) override {
    TF_ASSIGN_OR_RETURN(Fd fd, OpenFile(path, O_RDONLY));
    return std::make_unique<SystemSequentialFile>(path, std::move(fd));
  }

  StatusOr<std::unique_ptr<RandomAccessFile>> OpenRandomAccess(const std::string& path) override {
    // O_NONBLOCK, because opening a pipe would otherwise wait for its other end.
    TF_ASSIGN_OR_RETURN(Fd fd, OpenFile(path, O_RDONLY | O_NONBLOCK));
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return SystemError("cannot read", path);
    if (!S_ISREG(info.st_mode)) return FailedPrecondition(path, " is not a regular file");
    return std::make_unique<SystemRandomAccessFile>(path, std::move(fd), static_cast<uint64_t>(info.st_size));
  }

  StatusOr<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, WriteMode mode) override {
    const int how = mode == WriteMode::kReplace ? O_TRUNC : mode == WriteMode::kCreate ? O_EXCL : O_APPEND;
    TF_ASSIGN_OR_RETURN(Fd fd, OpenFile(path, O_WRONLY | O_CREAT | how, 0666));
    return std::make_unique<SystemWritableFile>(path, std::move(fd));
  }

  Status RenameFile(const std::string& from, const std::string& to) override {
    TF_ASSIGN_OR_RETURN(const Place old_place, FindPlace(from));
    TF_ASSIGN_OR_RETURN(const Place new_place, FindPlace(to));
    if (::renameat(old_place.at(), old_place.name.c_str(), new_place.at(), new_place.name.c_str()) == 0) {
      return OkStatus();
    }
    return absl::ErrnoToStatus(errno, StrCat("cannot rename ", from, " to ", to));
  }

  Status RemoveFile(const std::string& path) override {
    TF_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return ::unlinkat(place.at(), place.name.c_str(), 0) == 0 ? OkStatus() : SystemError("cannot remove", path);
  }

  StatusOr<FileInfo> Stat(const std::string& path) override {
    struct stat info {};
    if (CurrentFileAccess() != nullptr) {
      TF_ASSIGN_OR_RETURN(const Fd fd, OpenFile(path, O_PATH));
      if (::fstat(fd.get(), &info) != 0) return SystemError("cannot open", path);
    } else if (::stat(LocalPath(path).c_str(), &info) != 0) {
      return SystemError("cannot open", path);
    }
    const auto modified = std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec);
    return FileInfo{.is_regular = S_ISREG(info.st_mode),
                    .is_directory = S_ISDIR(info.st_mode),
                    .size = static_cast<uint64_t>(info.st_size),
                    .modified = WallClock::time_point(std::chrono::duration_cast<WallClock::duration>(modified))};
  }

  Status MakeDirectory(const std::string& path) override {
    TF_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return ::mkdirat(place.at(), place.name.c_str(), 0777) == 0 ? OkStatus()
                                                                : SystemError("cannot make the directory", path);
  }

  Status RemoveDirectory(const std::string& path) override {
    TF_ASSIGN_OR_RETURN(const Place place, FindPlace(path));
    return ::unlinkat(place.at(), place.name.c_str(), AT_REMOVEDIR) == 0
               ? OkStatus()
               : SystemError("cannot remove the directory", path);
  }

  Status SyncDirectory(const std::string& path) override {
    TF_ASSIGN_OR_RETURN(const Fd fd, OpenFile(path, O_RDONLY | O_DIRECTORY));
    const bool failed = ::fsync(fd.get()) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS;
    return failed ? SystemError("cannot sync", path) : OkStatus();
  }

  StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern) override {
    const FileAccess* const access = CurrentFileAccess();
    if (access != nullptr) TF_RETURN_IF_ERROR(access->CheckPattern(pattern));
    glob_t found{};
    const int result = ::glob(LocalPath(pattern).c_str(), GLOB_NOSORT, nullptr, &found);
    std::vector<std::string> paths;
    if (result == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    if (result == GLOB_NOSPACE) return ResourceExhausted("out of memory while matching files to '", pattern, "'");
    // A symbolic link may have led out of the allowed directories. The names of files there are not reported.
    if (access != nullptr) std::erase_if(paths, [this](const std::string& path) { return !Stat(path).ok(); });
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  StatusOr<std::string> AbsolutePath(const std::string& path) override {
    if (path.empty() || path.starts_with('/') || path.starts_with("file://")) return path;
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    if (error) return absl::ErrnoToStatus(error.value(), StrCat("cannot make the path '", path, "' absolute"));
    return (here / path).lexically_normal().string();
  }
};

}  // namespace

Env& Env::System() {
  static Env& env = *new SystemEnv;
  return env;
}

Env& Env::Default() {
  Env* const env = installed.load(std::memory_order_acquire);
  return env == nullptr ? System() : *env;
}

Env* Env::SetDefault(Env* env) {
  return installed.exchange(env == &System() ? nullptr : env, std::memory_order_acq_rel);
}

MonotonicClock::time_point MonotonicClock::now() {
  Env* const env = installed.load(std::memory_order_acquire);
  return env == nullptr ? SystemMonotonicNow() : env->MonotonicNow();
}

WallClock::time_point WallClock::now() {
  Env* const env = installed.load(std::memory_order_acquire);
  return env == nullptr ? SystemWallNow() : env->WallNow();
}

void SleepFor(MonotonicClock::duration time) { Env::Default().SleepUntil(MonotonicClock::now() + time); }

constinit thread_local LockScheduler* lock_scheduler = nullptr;

void CondVar::WaitOnce(std::unique_lock<std::mutex>& lock, MonotonicClock::time_point deadline,
                       std::source_location where) {
  Env* const env = installed.load(std::memory_order_acquire);
  env == nullptr ? SystemWait(cv_, lock, deadline) : env->Wait(cv_, lock, deadline, where);
}

void CondVar::NotifyOne() {
  Env* const env = installed.load(std::memory_order_acquire);
  env == nullptr ? cv_.notify_one() : env->NotifyOne(cv_);
}

void CondVar::NotifyAll() {
  Env* const env = installed.load(std::memory_order_acquire);
  env == nullptr ? cv_.notify_all() : env->NotifyAll(cv_);
}

Thread::Thread(const std::string& name, std::function<void()> body)
    : handle_(Env::Default().StartThread(name, std::move(body))) {}

void Thread::Join() { std::exchange(handle_, nullptr)->Join(); }
void Thread::Detach() { std::exchange(handle_, nullptr)->Detach(); }
void Thread::CheckNotJoinable() const { TB_CHECK(!joinable()); }

int NumCores() { return Env::Default().NumCores(); }

std::string LocalPath(std::string_view path) {
  constexpr std::string_view kScheme = "file://";
  return std::string(path.starts_with(kScheme) ? path.substr(kScheme.size()) : path);
}

StatusOr<std::unique_ptr<RandomAccessFile>> RandomAccessFile::Open(const std::string& path) {
  return Env::Default().OpenRandomAccess(path);
}

}  // namespace tensorbraid
