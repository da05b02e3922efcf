#include "runtime/resources/summary_writer.h"

#include "core/system/clock.h"
#include "core/text/strings.h"

namespace tensorbraid {

SummaryWriterResource::~SummaryWriterResource() {
  MutexLock lock(mu_);
  if (file_ != nullptr) (void)file_->Close();
}

Status SummaryWriterResource::Open(const Options& options) {
  MutexLock lock(mu_);
  if (file_ != nullptr) return OkStatus();
  TF_ASSIGN_OR_RETURN(file_, EventFile::Open({.directory = options.directory, .suffix = options.suffix}));
  options_ = options;
  unseen_ = 0;
  flushed_ = MonotonicClock::now();
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
  if (unseen_ <= options_.max_queue &&
      MonotonicClock::now() - flushed_ < std::chrono::milliseconds(options_.flush_millis)) {
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
  flushed_ = MonotonicClock::now();
  return file_->Flush();
}

Status SummaryWriterResource::Close() {
  std::unique_ptr<EventFile> file;
  {
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(CheckOpen());
    file = std::move(file_);
  }
  return file->Close();
}

std::string SummaryWriterResource::DebugString() const { return StrCat("summary writer ", name_); }

}  // namespace tensorbraid
