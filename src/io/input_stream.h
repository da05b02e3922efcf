// Files read from front to back, compressed or not: what readers of records and lines stand on.
#ifndef TENSORBRAID_IO_INPUT_STREAM_H_
#define TENSORBRAID_IO_INPUT_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tensorbraid/status.h"

namespace tensorbraid {

enum class Compression { kNone, kZlib, kGzip };

// From TensorFlow's names: "", "ZLIB", "GZIP". InvalidArgument for others.
StatusOr<Compression> CompressionFromName(std::string_view name);

// A buffered stream of bytes. One thread at a time. Reading blocks for as long as the file system does; memory follows
// what the file holds, never what it claims. Errors: OutOfRange at the end; DataLoss for damaged or truncated
// compressed data; else the system's, with the path. After an error other than OutOfRange the stream is of no use.
class InputStream {
 public:
  virtual ~InputStream() = default;
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;

  // `buffer_size`: bytes asked of the system at a time; 0 for a default.
  static StatusOr<std::unique_ptr<InputStream>> Open(const std::string& path, Compression = Compression::kNone,
                                                     int64_t buffer_size = 0);

  // Replaces *out by the next `count` bytes. OutOfRange when fewer are left: *out is then what was left.
  Status Read(int64_t count, std::string* out);
  // Appends everything up to the end.
  Status ReadAll(std::string* out);
  // Replaces *line by the next line without its end; carriage returns are dropped, wherever they stand. OutOfRange when
  // nothing is left: a last line needs no line feed.
  Status ReadLine(std::string* line);
  // OutOfRange when fewer are left: the stream is then at its end.
  Status Skip(int64_t count);
  // Bytes that have been read (of the uncompressed data).
  int64_t position() const { return position_; }
  const std::string& path() const { return path_; }

 protected:
  explicit InputStream(std::string path) : path_(std::move(path)) {}
  // Gives the next bytes, valid until the next call; none at the end.
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
