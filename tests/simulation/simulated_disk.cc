#include "simulation/simulated_disk.h"

#include <cerrno>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

Status DiskError(int number, const std::string& path) {
  return absl::ErrnoToStatus(number, StrCat("cannot change ", path));
}

}  // namespace

class SimulatedDisk::Writer final : public WritableFile {
 public:
  Writer(SimulatedDisk& disk, std::string path, std::unique_ptr<WritableFile> file)
      : disk_(disk), path_(std::move(path)), file_(std::move(file)) {}
  Status Append(std::string_view bytes) override {
    bool torn = false;
    const Status status = disk_.Change(path_, &torn);
    if (torn) (void)file_->Append(bytes.substr(0, bytes.size() / 2));
    return status.ok() ? file_->Append(bytes) : status;
  }
  Status Sync() override {
    TF_RETURN_IF_ERROR(disk_.Change(path_));
    return file_->Sync();
  }
  Status Close() override {
    TF_RETURN_IF_ERROR(disk_.Change(path_));
    return file_->Close();
  }

 private:
  SimulatedDisk& disk_;
  const std::string path_;
  const std::unique_ptr<WritableFile> file_;
};

void SimulatedDisk::SetState(State state) {
  MutexLock lock(mu_);
  state_ = state;
}

void SimulatedDisk::SetDelay(MonotonicClock::duration most) {
  MutexLock lock(mu_);
  delay_ = most;
}

void SimulatedDisk::EndProcess(ProcessId process) {
  MutexLock lock(mu_);
  ended_.insert(process);
}

void SimulatedDisk::LosePower() {
  files_.LosePower([this](uint64_t n) { return scheduler_.Random(n); });
}

void SimulatedDisk::AtChange(uint64_t n, std::function<void()> event) {
  MutexLock lock(mu_);
  at_change_.emplace_back(n, std::move(event));
}

Status SimulatedDisk::CheckAlive(const std::string& path) {
  const ProcessId process = scheduler_.current_process();
  MutexLock lock(mu_);
  return ended_.contains(process) ? DiskError(EIO, path) : OkStatus();
}

Status SimulatedDisk::Change(const std::string& path, bool* torn) {
  TF_RETURN_IF_ERROR(CheckAlive(path));
  std::vector<std::function<void()>> due;
  MonotonicClock::duration delay;
  State state;
  {
    MutexLock lock(mu_);
    for (auto& [left, event] : at_change_) {
      if (--left == 0) due.push_back(std::move(event));
    }
    std::erase_if(at_change_, [](const auto& entry) { return entry.first == 0; });
    delay = delay_;
    state = state_;
  }
  for (const auto& event : due) event();
  if (delay.count() > 0) SleepFor(MonotonicClock::duration(scheduler_.Random(static_cast<uint64_t>(delay.count()))));
  if (const Status alive = CheckAlive(path); !alive.ok()) {
    if (torn != nullptr) *torn = true;
    return alive;
  }
  switch (state) {
    case State::kWorks:
      return OkStatus();
    case State::kFails:
      return DiskError(EIO, path);
    case State::kFull:
      if (torn != nullptr) *torn = true;
      return DiskError(ENOSPC, path);
    case State::kReadOnly:
      return DiskError(EROFS, path);
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<SequentialFile>> SimulatedDisk::OpenSequential(const std::string& path) {
  TF_RETURN_IF_ERROR(CheckAlive(path));
  return files_.OpenSequential(path);
}

StatusOr<std::unique_ptr<RandomAccessFile>> SimulatedDisk::OpenRandomAccess(const std::string& path) {
  TF_RETURN_IF_ERROR(CheckAlive(path));
  return files_.OpenRandomAccess(path);
}

StatusOr<std::unique_ptr<WritableFile>> SimulatedDisk::OpenWritable(const std::string& path, WriteMode mode) {
  TF_RETURN_IF_ERROR(Change(path));
  TF_ASSIGN_OR_RETURN(auto file, files_.OpenWritable(path, mode));
  return std::make_unique<Writer>(*this, path, std::move(file));
}

Status SimulatedDisk::RenameFile(const std::string& from, const std::string& to) {
  TF_RETURN_IF_ERROR(Change(from));
  return files_.RenameFile(from, to);
}

Status SimulatedDisk::RemoveFile(const std::string& path) {
  TF_RETURN_IF_ERROR(Change(path));
  return files_.RemoveFile(path);
}

StatusOr<FileInfo> SimulatedDisk::Stat(const std::string& path) {
  TF_RETURN_IF_ERROR(CheckAlive(path));
  return files_.Stat(path);
}

Status SimulatedDisk::MakeDirectory(const std::string& path) {
  TF_RETURN_IF_ERROR(Change(path));
  return files_.MakeDirectory(path);
}

Status SimulatedDisk::RemoveDirectory(const std::string& path) {
  TF_RETURN_IF_ERROR(Change(path));
  return files_.RemoveDirectory(path);
}

Status SimulatedDisk::SyncDirectory(const std::string& path) {
  TF_RETURN_IF_ERROR(Change(path));
  return files_.SyncDirectory(path);
}

StatusOr<std::vector<std::string>> SimulatedDisk::MatchingPaths(const std::string& pattern) {
  TF_RETURN_IF_ERROR(CheckAlive(pattern));
  return files_.MatchingPaths(pattern);
}

}  // namespace tensorbraid
