// A file system that fails on demand, for tests.
#ifndef TENSORBRAID_CORE_TESTING_FAULTY_FILES_H_
#define TENSORBRAID_CORE_TESTING_FAULTY_FILES_H_

#include <fnmatch.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/system/env_testutil.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"

namespace tensorbraid {

// An environment whose files are in memory. It counts the operations that change files, names or directories, and lets
// one of them, chosen by its number, meet a fault. It also records what has been synced, and can lose everything else,
// like a machine that loses power. Time, threads and seeds are the system's. Thread-safe.
class FaultyFiles : public ForwardingEnv {
 public:
  enum class Fault {
    kNone,
    kIoError,     // this operation fails; the next ones succeed
    kNoSpace,     // from now on nothing can be written: an append writes half of its bytes, and then fails
    kReadOnly,    // from now on nothing can be changed
    kKilled,      // the process ends: an append writes half of its bytes, and from now on every operation fails
    kFlippedBit,  // an append writes one wrong bit and succeeds; other operations are not affected
    kBlocked,     // this operation waits until Repair
  };
  // Whether a change of names (new, renamed or removed files) survives a loss of power if the directory was not synced.
  enum class UnsyncedNames { kLost, kKept };

  FaultyFiles() { names_["/"] = durable_names_["/"] = nullptr; }

  // The `n`-th change from now on meets the fault; 1 is the next one.
  void FailAt(Fault fault, int n) {
    MutexLock lock(mu_);
    fault_ = fault;
    changes_until_fault_ = n;
    fired_ = false;
  }
  // Whether the fault has happened.
  bool fired() const {
    MutexLock lock(mu_);
    return fired_;
  }
  void WaitUntilFired() {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return fired_; });
  }
  // The disk works again, or the process is started again.
  void Repair() {
    MutexLock lock(mu_);
    fault_ = Fault::kNone;
    fired_ = false;
    changed_.NotifyAll();
  }
  // All files keep what was synced, and no more. A file that is open must not be used any more.
  void LosePower(UnsyncedNames unsynced) {
    MutexLock lock(mu_);
    if (unsynced == UnsyncedNames::kLost) names_ = durable_names_;
    ForgetOrphans();
    for (auto& [path, content] : names_) {
      if (content != nullptr) content->bytes = content->durable;
    }
    durable_names_ = names_;
  }
  // As above, but unsynced changes may survive, as when the disk was writing while the power failed. `random`, which
  // returns a number below its argument, decides for each directory whether the unsynced changes of its names survive,
  // and for each file whether it has its synced bytes or some of the first bytes that were written.
  void LosePower(const std::function<uint64_t(uint64_t)>& random) {
    MutexLock lock(mu_);
    std::map<std::string, bool> kept;  // keyed by directory
    for (const auto& entry : names_) kept.emplace(Parent(entry.first), false);
    for (const auto& entry : durable_names_) kept.emplace(Parent(entry.first), false);
    for (auto& [directory, is_kept] : kept) is_kept = random(2) == 0;
    std::map<std::string, std::shared_ptr<Content>> names;
    for (const auto& entry : names_) {
      if (kept[Parent(entry.first)]) names.insert(entry);
    }
    for (const auto& entry : durable_names_) {
      if (!kept[Parent(entry.first)]) names.insert(entry);
    }
    names_ = std::move(names);
    ForgetOrphans();
    for (auto& [path, content] : names_) {
      if (content == nullptr || content->bytes == content->durable) continue;
      const std::string written = content->bytes.substr(0, random(content->bytes.size() + 1));
      content->bytes = random(2) == 0 ? content->durable : written;
      content->durable = content->bytes;
    }
    durable_names_ = names_;
  }
  // Advances the time that files get when they are created or written from now on.
  void AdvanceWallClock(WallClock::duration time) { advanced_ += time.count(); }
  WallClock::time_point WallNow() override { return ForwardingEnv::WallNow() + WallClock::duration(advanced_.load()); }
  // Changes one bit of a file, on the disk too.
  void FlipBit(const std::string& path, size_t byte, int bit = 4) {
    MutexLock lock(mu_);
    Content& content = *names_.at(path);
    content.bytes.at(byte) ^= static_cast<char>(1 << bit);
    content.durable = content.bytes;
  }
  size_t SizeOf(const std::string& path) const {
    MutexLock lock(mu_);
    return names_.at(path)->bytes.size();
  }
  // The paths of all files, sorted.
  std::vector<std::string> Files() const {
    MutexLock lock(mu_);
    std::vector<std::string> paths;
    for (const auto& [path, content] : names_) {
      if (content != nullptr) paths.push_back(path);
    }
    return paths;
  }
  // The number of changes so far.
  int changes() const {
    MutexLock lock(mu_);
    return changes_;
  }

  StatusOr<std::unique_ptr<SequentialFile>> OpenSequential(const std::string& path) override {
    TF_ASSIGN_OR_RETURN(auto file, OpenRandomAccess(path));
    return std::make_unique<FromFront>(std::move(file));
  }
  StatusOr<std::unique_ptr<RandomAccessFile>> OpenRandomAccess(const std::string& path) override {
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(Alive(path));
    const auto it = names_.find(LocalPath(path));
    if (it == names_.end()) return Error(ENOENT, "cannot open", path);
    if (it->second == nullptr) return FailedPrecondition(path, " is not a regular file");
    return std::make_unique<Reader>(*this, path, it->second);
  }
  StatusOr<std::unique_ptr<WritableFile>> OpenWritable(const std::string& given, WriteMode mode) override {
    const std::string path = LocalPath(given);
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(Change("cannot open", given));
    TF_RETURN_IF_ERROR(CheckParent("cannot open", path));
    auto& content = names_[path];
    if (content == nullptr) {
      content = std::make_shared<Content>();
    } else if (mode == WriteMode::kCreate) {
      return Error(EEXIST, "cannot open", given);
    } else if (mode == WriteMode::kReplace) {
      content->bytes.clear();
    }
    return std::make_unique<Writer>(*this, given, content);
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(Change("cannot rename", StrCat(from, " to ", to)));
    const auto it = names_.find(LocalPath(from));
    if (it == names_.end()) return Error(ENOENT, "cannot rename", from);
    TF_RETURN_IF_ERROR(CheckParent("cannot rename to", LocalPath(to)));
    auto content = it->second;
    names_.erase(it);
    names_[LocalPath(to)] = std::move(content);
    return OkStatus();
  }
  Status RemoveFile(const std::string& path) override {
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(Change("cannot remove", path));
    const auto it = names_.find(LocalPath(path));
    if (it == names_.end()) return Error(ENOENT, "cannot remove", path);
    if (it->second == nullptr) return Error(EISDIR, "cannot remove", path);
    names_.erase(it);
    return OkStatus();
  }
  StatusOr<FileInfo> Stat(const std::string& path) override {
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(Alive(path));
    const auto it = names_.find(LocalPath(path));
    if (it == names_.end()) return Error(ENOENT, "cannot open", path);
    const bool is_file = it->second != nullptr;
    return FileInfo{.is_regular = is_file,
                    .is_directory = !is_file,
                    .size = is_file ? it->second->bytes.size() : 0,
                    .modified = is_file ? it->second->modified : WallClock::time_point()};
  }
  Status MakeDirectory(const std::string& path) override {
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(Change("cannot make the directory", path));
    TF_RETURN_IF_ERROR(CheckParent("cannot make the directory", LocalPath(path)));
    return names_.emplace(LocalPath(path), nullptr).second ? OkStatus()
                                                           : Error(EEXIST, "cannot make the directory", path);
  }
  Status RemoveDirectory(const std::string& path) override {
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(Change("cannot remove the directory", path));
    if (!names_.contains(LocalPath(path))) return Error(ENOENT, "cannot remove the directory", path);
    for (const auto& [other, content] : names_) {
      if (Parent(other) == LocalPath(path)) return Error(ENOTEMPTY, "cannot remove the directory", path);
    }
    names_.erase(LocalPath(path));
    return OkStatus();
  }
  Status SyncDirectory(const std::string& path) override {
    const std::string directory = LocalPath(path);
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(Change("cannot sync", path));
    if (!names_.contains(directory)) return Error(ENOENT, "cannot open", path);
    // What is below the directory begins with its name, and follows in order: other directories need no look.
    const std::string prefix = directory == "/" ? "/" : directory + "/";
    const auto is_below = [&](const auto& names, const auto& at) {
      return at != names.end() && at->first.starts_with(prefix);
    };
    for (auto at = durable_names_.lower_bound(prefix); is_below(durable_names_, at);) {
      at = Parent(at->first) == directory ? durable_names_.erase(at) : std::next(at);
    }
    for (auto at = names_.lower_bound(prefix); is_below(names_, at); ++at) {
      if (Parent(at->first) == directory) durable_names_.insert(*at);
    }
    return OkStatus();
  }
  StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern) override {
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(Alive(pattern));
    std::vector<std::string> paths;
    for (const auto& [path, content] : names_) {
      if (::fnmatch(LocalPath(pattern).c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0) paths.push_back(path);
    }
    return paths;
  }

 private:
  struct Content {
    std::string bytes;
    std::string durable;  // what the disk holds
    WallClock::time_point modified = WallClock::now();
  };

  class Reader final : public RandomAccessFile {
   public:
    Reader(FaultyFiles& files, const std::string& path, std::shared_ptr<Content> content)
        : RandomAccessFile(path, content->bytes.size()), files_(files), content_(std::move(content)) {}
    Status Read(uint64_t offset, size_t size, void* out) const override {
      MutexLock lock(files_.mu_);
      TF_RETURN_IF_ERROR(files_.Alive(path()));
      if (offset + size > content_->bytes.size()) return DataLoss(path(), " ends before the end of a read");
      content_->bytes.copy(static_cast<char*>(out), size, offset);
      return OkStatus();
    }

   private:
    FaultyFiles& files_;
    const std::shared_ptr<Content> content_;
  };

  class FromFront final : public SequentialFile {
   public:
    explicit FromFront(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}
    StatusOr<size_t> Read(size_t size, char* out) override {
      size = std::min<size_t>(size, file_->size() - at_);
      TF_RETURN_IF_ERROR(file_->Read(at_, size, out));
      at_ += size;
      return size;
    }

   private:
    const std::unique_ptr<RandomAccessFile> file_;
    size_t at_ = 0;
  };

  class Writer final : public WritableFile {
   public:
    Writer(FaultyFiles& files, std::string path, std::shared_ptr<Content> content)
        : files_(files), path_(std::move(path)), content_(std::move(content)) {}
    Status Append(std::string_view bytes) override {
      MutexLock lock(files_.mu_);
      const bool fired_before = files_.fired_;
      const Status status = files_.Change("cannot write", path_);
      const bool now = files_.fired_ && !fired_before;
      if (now && (files_.fault_ == Fault::kNoSpace || files_.fault_ == Fault::kKilled)) {
        content_->bytes += bytes.substr(0, bytes.size() / 2);
      }
      TF_RETURN_IF_ERROR(status);
      content_->bytes += bytes;
      content_->modified = WallClock::now();
      if (now && files_.fault_ == Fault::kFlippedBit && !bytes.empty()) {
        content_->bytes[content_->bytes.size() - bytes.size() / 2 - 1] ^= 0x10;
      }
      return OkStatus();
    }
    Status Sync() override {
      MutexLock lock(files_.mu_);
      TF_RETURN_IF_ERROR(files_.Change("cannot write", path_));
      content_->durable = content_->bytes;
      return OkStatus();
    }
    Status Close() override {
      MutexLock lock(files_.mu_);
      return files_.Change("cannot write", path_);
    }

   private:
    FaultyFiles& files_;
    const std::string path_;
    const std::shared_ptr<Content> content_;
  };

  static Status Error(int number, const char* what, const std::string& path) {
    return absl::ErrnoToStatus(number, StrCat(what, " ", path));
  }
  // Removes names whose directory does not exist.
  void ForgetOrphans() TB_REQUIRES(mu_) {
    std::erase_if(names_, [&](const auto& entry) TB_REQUIRES(mu_) { return !names_.contains(Parent(entry.first)); });
  }
  static std::string Parent(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
  }
  Status CheckParent(const char* what, const std::string& path) const TB_REQUIRES(mu_) {
    const auto it = names_.find(Parent(path));
    if (it == names_.end()) return Error(ENOENT, what, path);
    return it->second == nullptr ? OkStatus() : Error(ENOTDIR, what, path);
  }
  // Returns an error if a fault of kind kKilled has ended the process.
  Status Alive(const std::string& path) const TB_REQUIRES(mu_) {
    return fired_ && fault_ == Fault::kKilled ? Error(EIO, "the process has ended before it could use", path)
                                              : OkStatus();
  }
  // Counts a change. Returns the error with which the change fails, or OK.
  Status Change(const char* what, const std::string& path) TB_REQUIRES(mu_) {
    ++changes_;
    TF_RETURN_IF_ERROR(Alive(path));
    const bool now = fault_ != Fault::kNone && !fired_ && --changes_until_fault_ == 0;
    if (now) {
      fired_ = true;
      changed_.NotifyAll();
    }
    if (!fired_) return OkStatus();
    const std::string_view verb = what;
    switch (fault_) {
      case Fault::kNone:
      case Fault::kFlippedBit:
        return OkStatus();
      case Fault::kIoError:
        return now ? Error(EIO, what, path) : OkStatus();
      case Fault::kNoSpace:
        return verb == "cannot remove" || verb == "cannot remove the directory" ? OkStatus()
                                                                                : Error(ENOSPC, what, path);
      case Fault::kReadOnly:
        return Error(EROFS, what, path);
      case Fault::kKilled:
        return Alive(path);
      case Fault::kBlocked:
        if (now) changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return fault_ != Fault::kBlocked; });
        return OkStatus();
    }
    return OkStatus();
  }

  std::atomic<WallClock::rep> advanced_ = 0;
  mutable Mutex mu_;
  CondVar changed_;
  Fault fault_ TB_GUARDED_BY(mu_) = Fault::kNone;
  int changes_until_fault_ TB_GUARDED_BY(mu_) = 0;
  bool fired_ TB_GUARDED_BY(mu_) = false;
  int changes_ TB_GUARDED_BY(mu_) = 0;
  // Null for a directory.
  std::map<std::string, std::shared_ptr<Content>> names_ TB_GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<Content>> durable_names_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TESTING_FAULTY_FILES_H_
