#include "io/event_file.h"

#include <unistd.h>

#include <atomic>

#include "absl/strings/str_format.h"
#include "core/system/clock.h"
#include "core/system/host_name.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "io/summary.pb.h"

namespace tensorbraid {
namespace {

// The bytes that a record has besides its data: the length and two checksums.
constexpr int64_t kRecordOverhead = 16;

// A name that no other writer uses, neither in this process nor in another that shares the directory.
std::string NewEventFileName() {
  static std::atomic<int64_t> writers{0};
  return absl::StrFormat("events.out.tfevents.%010d.%s.%d.%d", static_cast<int64_t>(WallClock::Seconds()), HostName(),
                         ::getpid(), writers.fetch_add(1));
}

}  // namespace

StatusOr<std::unique_ptr<EventFile>> EventFile::Open(const Options& options) {
  if (options.suffix.find('/') != std::string::npos) {
    return InvalidArgument("filename_suffix must not contain a '/', got '", options.suffix, "'");
  }
  TF_RETURN_IF_ERROR(MakeDirectories(options.directory));
  std::unique_ptr<EventFile> file(new EventFile(options));
  file->base_ = JoinPath(options.directory, NewEventFileName());
  TF_RETURN_IF_ERROR(file->OpenPart());
  return file;
}

Status EventFile::OpenPart() {
  path_ = base_ + (options_.max_bytes > 0 ? absl::StrFormat(".%05d", part_) : "") + options_.suffix;
  TF_ASSIGN_OR_RETURN(writer_, RecordWriter::Open(path_));
  bytes_ = 0;
  proto::Event version;
  version.set_wall_time(WallClock::Seconds());
  version.set_file_version("brain.Event:2");
  TF_RETURN_IF_ERROR(Write(version.SerializeAsString()));
  return Flush();
}

Status EventFile::Write(std::string_view event) {
  if (options_.max_bytes > 0 && bytes_ >= options_.max_bytes) {
    TF_RETURN_IF_ERROR(writer_->Close());
    ++part_;
    TF_RETURN_IF_ERROR(OpenPart());
  }
  TF_RETURN_IF_ERROR(writer_->Write(event));
  bytes_ += static_cast<int64_t>(event.size()) + kRecordOverhead;
  return OkStatus();
}

}  // namespace tensorbraid
