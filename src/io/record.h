// Reads and writes TFRecord files: records of bytes, each stored with its length and the checksums of the length and
// the data, masked (core/values/crc32c.h). The whole file may be compressed.
#ifndef TENSORBRAID_IO_RECORD_H_
#define TENSORBRAID_IO_RECORD_H_

#include <memory>
#include <string>
#include <string_view>

#include "io/input_stream.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Reads a file from front to back. One thread at a time; blocks for as long as the file system does.
class RecordReader {
 public:
  static StatusOr<std::unique_ptr<RecordReader>> Open(const std::string& path, Compression = Compression::kNone,
                                                      int64_t buffer_size = 0);
  // Replaces *record with the next record. OutOfRange after the last; DataLoss, naming file and offset, if a checksum
  // is wrong or the file ends within a record; otherwise the errors of InputStream. Memory use depends on the bytes
  // that the file has, never on the lengths that it claims.
  Status Read(std::string* record);
  // Whether Read returned DataLoss because the file ends within a record.
  bool is_cut() const { return is_cut_; }
  // Offset of the next record in the uncompressed data.
  int64_t offset() const { return stream_->position(); }
  // Continues at an offset that offset() returned. InvalidArgument if it is before the reader's position.
  Status SkipTo(int64_t offset);

 private:
  explicit RecordReader(std::unique_ptr<InputStream> stream) : stream_(std::move(stream)) {}
  // Reads the next `size` bytes and their checksum. They belong to the record that began at `begin`.
  Status ReadChecked(int64_t size, int64_t begin, std::string* out);

  std::unique_ptr<InputStream> stream_;
  std::string header_;
  bool is_cut_ = false;
};

// Writes a file from front to back. One thread at a time; blocks for as long as the file system does. Returns the
// system's errors with the path; after an error the writer must not be used any more.
class RecordWriter {
 public:
  // Creates the file, or empties an existing one.
  static StatusOr<std::unique_ptr<RecordWriter>> Open(const std::string& path, Compression = Compression::kNone);
  virtual ~RecordWriter() = default;
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  Status Write(std::string_view record);
  // Passes everything written so far to the system, so that readers see it.
  virtual Status Flush() = 0;
  // Flushes, ends the compressed data and closes the file. If a writer is destroyed without Close, only flushed data is
  // sure to be in the file.
  virtual Status Close() = 0;

 protected:
  RecordWriter() = default;
  virtual Status Append(std::string_view bytes) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_RECORD_H_
