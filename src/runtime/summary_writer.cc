#include "runtime/summary_writer.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "core/strings.h"
#include "io/file.h"
#include "io/summary.pb.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;

std::string HostName() {
  char name[256] = {};
  if (::gethostname(name, sizeof(name) - 1) != 0) return "localhost";
  return name;
}

// No other writer, of this process or of another that shares the directory, has the same.
std::string FileName(const std::string& suffix) {
  static std::atomic<int64_t> writers{0};
  return absl::StrFormat("events.out.tfevents.%010d.%s.%d.%d%s", static_cast<int64_t>(WallTime()), HostName(),
                         ::getpid(), writers.fetch_add(1), suffix);
}

}  // namespace

double WallTime() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

SummaryWriterResource::~SummaryWriterResource() {
  MutexLock lock(mu_);
  if (file_ != nullptr) (void)file_->Close();
}

Status SummaryWriterResource::Open(const Options& options) {
  MutexLock lock(mu_);
  if (file_ != nullptr) return OkStatus();
  const std::filesystem::path directory = LocalPath(options.directory);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return absl::ErrnoToStatus(error.value(), StrCat("cannot make the directory ", directory.string()));
  TF_ASSIGN_OR_RETURN(auto file, RecordWriter::Open((directory / FileName(options.suffix)).string()));
  proto::Event version;
  version.set_wall_time(WallTime());
  version.set_file_version("brain.Event:2");
  TF_RETURN_IF_ERROR(file->Write(version.SerializeAsString()));
  TF_RETURN_IF_ERROR(file->Flush());
  file_ = std::move(file);
  options_ = options;
  unseen_ = 0;
  flushed_ = Clock::now();
  return OkStatus();
}

Status SummaryWriterResource::CheckOpen() const {
  if (file_ != nullptr) return OkStatus();
  return NotFound("Resource summary writer/", name_, " does not exist: it has not been initialized, or was closed");
}

Status SummaryWriterResource::Write(std::string_view event) {
  MutexLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckOpen());
  TF_RETURN_IF_ERROR(file_->Write(event));
  ++unseen_;
  if (unseen_ <= options_.max_queue && Clock::now() - flushed_ < std::chrono::milliseconds(options_.flush_millis)) {
    return OkStatus();
  }
  return FlushLocked();
}

Status SummaryWriterResource::Flush() {
  MutexLock lock(mu_);
  TF_RETURN_IF_ERROR(CheckOpen());
  return FlushLocked();
}

Status SummaryWriterResource::FlushLocked() {
  unseen_ = 0;
  flushed_ = Clock::now();
  return file_->Flush();
}

Status SummaryWriterResource::Close() {
  std::unique_ptr<RecordWriter> file;
  {
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(CheckOpen());
    file = std::move(file_);
  }
  return file->Close();
}

std::string SummaryWriterResource::DebugString() const { return StrCat("summary writer ", name_); }

}  // namespace tensorbraid
