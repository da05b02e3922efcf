// Files of events, which TensorBoard reads.
#ifndef TENSORBRAID_RUNTIME_SUMMARY_WRITER_H_
#define TENSORBRAID_RUNTIME_SUMMARY_WRITER_H_

#include <chrono>
#include <memory>
#include <string>

#include "core/mutex.h"
#include "io/record.h"
#include "runtime/resource.h"

namespace tensorbraid {

// Behind SummaryWriter: a file that is opened once and then written to until it is closed. Thread-safe. Blocks for as
// long as the file system does; its errors are returned, with the path.
class SummaryWriterResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "summary writer";
  explicit SummaryWriterResource(std::string name) : name_(std::move(name)) {}
  ~SummaryWriterResource() override;

  // Readers see what was written after `max_queue` more events, or when `flush_millis` have gone by at the next one.
  struct Options {
    std::string directory;  // made where it is missing
    std::string suffix;     // of the file's name
    int32_t max_queue = 10;
    int32_t flush_millis = 120'000;
  };
  // Makes "DIRECTORY/events.out.tfevents.TIME.HOST.PID.NUMBER SUFFIX". A writer that is open stays as it is.
  Status Open(const Options& options);
  // Writes a serialized Event. NotFound unless the writer is open, here and below.
  Status Write(std::string_view event);
  // Lets readers see everything.
  Status Flush();
  Status Close();
  std::string DebugString() const override;

 private:
  Status CheckOpen() const TB_REQUIRES(mu_);
  Status FlushLocked() TB_REQUIRES(mu_);

  const std::string name_;
  mutable Mutex mu_;
  std::unique_ptr<RecordWriter> file_ TB_GUARDED_BY(mu_);  // null unless open
  Options options_ TB_GUARDED_BY(mu_);
  int64_t unseen_ TB_GUARDED_BY(mu_) = 0;  // events since the last flush
  std::chrono::steady_clock::time_point flushed_ TB_GUARDED_BY(mu_);
};

// Seconds since the epoch, for events.
double WallTime();

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_SUMMARY_WRITER_H_
