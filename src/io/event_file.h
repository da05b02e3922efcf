// Writes event files, the format that TensorBoard reads: TFRecord files of serialized Event messages.
#ifndef TENSORBRAID_IO_EVENT_FILE_H_
#define TENSORBRAID_IO_EVENT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/record.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Writes events to a new file. Used by one thread at a time; blocks for as long as the file system does, and returns
// its errors with the path.
class EventFile {
 public:
  struct Options {
    std::string directory;  // created if it does not exist
    std::string suffix;     // of the file's name
    int64_t max_bytes = 0;  // if positive, a new file is begun when one has this size
  };
  // Creates "DIRECTORY/events.out.tfevents.TIME.HOST.PID.NUMBER SUFFIX" (without the space), a name that no other
  // writer uses. With max_bytes, ".00000", ".00001", ... precede the suffix, so that readers find the files in this
  // order.
  static StatusOr<std::unique_ptr<EventFile>> Open(const Options& options);

  // Writes a serialized Event.
  Status Write(std::string_view event);
  // Makes all events visible to readers of the file.
  Status Flush() { return writer_->Flush(); }
  Status Close() { return writer_->Close(); }
  const std::string& path() const { return path_; }

 private:
  explicit EventFile(const Options& options) : options_(options) {}
  Status OpenPart();

  const Options options_;
  std::string base_;  // path without part and suffix
  int part_ = 0;
  int64_t bytes_ = 0;  // in the current part
  std::string path_;
  std::unique_ptr<RecordWriter> writer_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_EVENT_FILE_H_
