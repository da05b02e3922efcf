// The resource with which a graph writes event files.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_SUMMARY_WRITER_H_
#define TENSORBRAID_RUNTIME_RESOURCES_SUMMARY_WRITER_H_

#include <chrono>
#include <memory>
#include <string>

#include "core/threads/mutex.h"
#include "io/event_file.h"
#include "runtime/kernel/resource.h"

namespace tensorbraid {

// The resource of the SummaryWriter op: one event file. Thread-safe. Blocks for as long as the file system does, and
// returns its errors with the path.
class SummaryWriterResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "summary writer";
  explicit SummaryWriterResource(std::string name) : name_(std::move(name)) {}
  ~SummaryWriterResource() override;

  // Write() flushes the file if, since the last flush, more than `max_queue` events have been written or at least
  // `flush_millis` milliseconds have passed.
  struct Options {
    std::string directory;  // created if it does not exist
    std::string suffix;     // of the file's name
    int32_t max_queue = 10;
    int32_t flush_millis = 120'000;
  };
  // Creates a file (see EventFile). Does nothing if the writer is already open.
  Status Open(const Options& options);
  // Writes a serialized Event. This and the following functions return NotFound if the writer is not open.
  Status Write(std::string_view event);
  // Makes all events visible to readers of the file.
  Status Flush();
  Status Close();
  std::string DebugString() const override;

 private:
  Status CheckOpen() const TB_REQUIRES(mu_);
  Status FlushLocked() TB_REQUIRES(mu_);

  const std::string name_;
  mutable Mutex mu_;
  std::unique_ptr<EventFile> file_ TB_GUARDED_BY(mu_);  // null unless open
  Options options_ TB_GUARDED_BY(mu_);
  int64_t unseen_ TB_GUARDED_BY(mu_) = 0;  // events since the last flush
  MonotonicClock::time_point flushed_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_SUMMARY_WRITER_H_
