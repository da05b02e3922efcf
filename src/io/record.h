// TFRecord files: records of bytes, each with its length and masked checksums of length and data; the whole may be
// compressed.
#ifndef TENSORBRAID_IO_RECORD_H_
#define TENSORBRAID_IO_RECORD_H_

#include <memory>
#include <string>
#include <string_view>

#include "io/input_stream.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

// Reads from front to back. One thread at a time; blocks for as long as the file system does.
class RecordReader {
 public:
  static StatusOr<std::unique_ptr<RecordReader>> Open(const std::string& path, Compression = Compression::kNone,
                                                      int64_t buffer_size = 0);
  // Replaces *record by the next one. OutOfRange after the last; DataLoss, naming file and offset, when a checksum is
  // wrong or the file ends within a record; the errors of InputStream. Memory follows what the file holds.
  Status Read(std::string* record);
  // Whether Read gave DataLoss because the file ends within a record.
  bool is_cut() const { return is_cut_; }
  // Where the next record begins, in the uncompressed data.
  int64_t offset() const { return stream_->position(); }
  // Goes on at an offset that offset() gave. InvalidArgument when that lies before where the reader is.
  Status SkipTo(int64_t offset);

 private:
  explicit RecordReader(std::unique_ptr<InputStream> stream) : stream_(std::move(stream)) {}
  // The next `size` bytes and their checksum, of a record that began at `begin`.
  Status ReadChecked(int64_t size, int64_t begin, std::string* out);

  std::unique_ptr<InputStream> stream_;
  std::string header_;
  bool is_cut_ = false;
};

// Writes a file from front to back. One thread at a time; blocks for as long as the file system does. The errors are
// the system's, with the path; after one, the writer is of no use.
class RecordWriter {
 public:
  // Makes or empties the file.
  static StatusOr<std::unique_ptr<RecordWriter>> Open(const std::string& path, Compression = Compression::kNone);
  virtual ~RecordWriter() = default;
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  Status Write(std::string_view record);
  // Gives everything written to the system, so that readers see it.
  virtual Status Flush() = 0;
  // Flushes, ends the compressed data and closes the file. A writer that goes without it leaves what was flushed.
  virtual Status Close() = 0;

 protected:
  RecordWriter() = default;
  virtual Status Append(std::string_view bytes) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_RECORD_H_
