// Reads files from front to back, compressed or not. The readers of records and lines are built on it.
#ifndef TENSORBRAID_IO_INPUT_STREAM_H_
#define TENSORBRAID_IO_INPUT_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

enum class Compression { kNone, kZlib, kGzip };

// Converts TensorFlow's names "", "ZLIB" and "GZIP". InvalidArgument for others.
StatusOr<Compression> CompressionFromName(std::string_view name);

// A buffered stream of bytes, to be used by one thread at a time. Reading blocks for as long as the file system does.
// Memory use depends on the bytes that the file has, never on the sizes that it claims. Errors: OutOfRange at the end;
// DataLoss for damaged or truncated compressed data; otherwise the system's error with the path. After an error other
// than OutOfRange the stream must not be used any more.
class InputStream {
 public:
  virtual ~InputStream() = default;
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;

  // `buffer_size` is the number of bytes to request from the system at a time; 0 selects a default.
  static StatusOr<std::unique_ptr<InputStream>> Open(const std::string& path, Compression = Compression::kNone,
                                                     int64_t buffer_size = 0);

  // Replaces *out by the next `count` bytes. OutOfRange if fewer are left; *out then holds those.
  Status Read(int64_t count, std::string* out);
  // Appends everything up to the end.
  Status ReadAll(std::string* out);
  // Replaces *line by the next line, without its line feed and without any carriage returns, wherever they are.
  // OutOfRange if nothing is left. The last line needs no line feed.
  Status ReadLine(std::string* line);
  // Skips `count` bytes. OutOfRange if fewer are left; the stream is then at its end.
  Status Skip(int64_t count);
  // Number of bytes that have been read, counted in the uncompressed data.
  int64_t position() const { return position_; }
  const std::string& path() const { return path_; }

 protected:
  explicit InputStream(std::string path) : path_(std::move(path)) {}
  // Returns the next bytes, valid until the next call, or an empty view at the end.
  virtual StatusOr<std::string_view> Next() = 0;

 private:
  // Makes `rest_` non-empty, or returns OutOfRange.
  Status Fill();

  const std::string path_;
  std::string_view rest_;
  int64_t position_ = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_INPUT_STREAM_H_
