#include "io/record.h"

#include <zlib.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "core/system/env.h"
#include "core/text/gzip_magic.h"
#include "core/text/strings.h"
#include "core/values/crc32c.h"

namespace tensorbraid {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written to files in native byte order");

constexpr int64_t kLengthBytes = sizeof(uint64_t);
constexpr int64_t kCrcBytes = sizeof(uint32_t);

template <typename T>
T Load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

using File = std::unique_ptr<WritableFile>;

class PlainWriter : public RecordWriter {
 public:
  PlainWriter(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}
  ~PlainWriter() override {
    if (file_ != nullptr) PlainWriter::Flush().IgnoreError();
  }
  Status Flush() override {
    if (file_ == nullptr) return FailedPrecondition(path_, " is closed");
    const Status written = file_->Append(buffer_);
    buffer_.clear();
    return written;
  }
  Status Close() override {
    const Status flushed = PlainWriter::Flush();
    if (file_ == nullptr) return flushed;
    const Status closed = std::exchange(file_, nullptr)->Close();
    return flushed.ok() ? closed : flushed;
  }

 protected:
  Status Append(std::string_view bytes) override {
    if (file_ == nullptr) return FailedPrecondition(path_, " is closed");
    if (buffer_.size() + bytes.size() > kBufferSize) TF_RETURN_IF_ERROR(PlainWriter::Flush());
    if (bytes.size() > kBufferSize) return file_->Append(bytes);
    buffer_.append(bytes);
    return OkStatus();
  }
  const std::string& path() const { return path_; }

 private:
  static constexpr size_t kBufferSize = 64 << 10;

  const std::string path_;
  File file_;  // null after Close
  std::string buffer_;
};

class DeflatingWriter final : public PlainWriter {
 public:
  DeflatingWriter(std::string path, File file) : PlainWriter(std::move(path), std::move(file)) {}
  ~DeflatingWriter() override { deflateEnd(&z_); }
  Status Init(Compression compression) {
    // 15: the largest window; + 16: gzip's header and checksum.
    const int window_bits = 15 + (compression == Compression::kGzip ? 16 : 0);
    if (deflateInit2(&z_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      return ResourceExhausted("not enough memory to compress ", path());
    }
    return OkStatus();
  }
  Status Flush() override {
    TF_RETURN_IF_ERROR(Deflate({}, Z_SYNC_FLUSH));
    return PlainWriter::Flush();
  }
  Status Close() override {
    TF_RETURN_IF_ERROR(Deflate({}, Z_FINISH));
    return PlainWriter::Close();
  }

 protected:
  Status Append(std::string_view bytes) override {
    constexpr size_t kPiece = size_t{1} << 30;  // zlib's sizes have 32 bits
    for (; bytes.size() > kPiece; bytes.remove_prefix(kPiece)) {
      TF_RETURN_IF_ERROR(Deflate(bytes.substr(0, kPiece), Z_NO_FLUSH));
    }
    return Deflate(bytes, Z_NO_FLUSH);
  }

 private:
  Status Deflate(std::string_view bytes, int flush) {
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z_.avail_in = static_cast<uInt>(bytes.size());
    do {
      z_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      z_.avail_out = static_cast<uInt>(buffer_.size());
      if (deflate(&z_, flush) == Z_STREAM_ERROR) return FailedPrecondition(path(), " is closed");
      TF_RETURN_IF_ERROR(PlainWriter::Append({buffer_.data(), buffer_.size() - z_.avail_out}));
    } while (z_.avail_out == 0);
    return OkStatus();
  }

  z_stream z_{};
  std::array<char, 64 << 10> buffer_;
};

}  // namespace

StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(const std::string& path, Compression compression,
                                                           int64_t buffer_size) {
  TF_ASSIGN_OR_RETURN(auto stream, InputStream::Open(path, compression, buffer_size));
  return std::unique_ptr<RecordReader>(new RecordReader(std::move(stream)));
}

Status RecordReader::ReadChecked(int64_t size, int64_t begin, std::string* out) {
  const Status read = stream_->Read(size + kCrcBytes, out);
  if (absl::IsOutOfRange(read)) {
    if (out->empty() && stream_->position() == begin) return read;
    is_cut_ = true;
    return DataLoss(stream_->path(), " is damaged: truncated record at ", begin);
  }
  TF_RETURN_IF_ERROR(read);
  const uint32_t crc = UnmaskCrc(Load<uint32_t>(out->data() + size));
  out->resize(static_cast<size_t>(size));
  if (Crc32c(*out) != crc) {
    return DataLoss(stream_->path(), " is damaged: corrupted record at ", begin, ", its checksum is wrong",
                    begin == 0 ? GzipHint(*out) : "");
  }
  return OkStatus();
}

Status RecordReader::Read(std::string* record) {
  const int64_t begin = offset();
  TF_RETURN_IF_ERROR(ReadChecked(kLengthBytes, begin, &header_));
  const auto length = Load<uint64_t>(header_.data());
  if (length > static_cast<uint64_t>(std::numeric_limits<int64_t>::max() - kCrcBytes)) {
    return DataLoss(stream_->path(), " is damaged: corrupted record at ", begin, ", it claims ", length, " bytes");
  }
  return ReadChecked(static_cast<int64_t>(length), begin, record);
}

Status RecordReader::SkipTo(int64_t offset) {
  if (offset < this->offset()) {
    return InvalidArgument("cannot go back from ", this->offset(), " to ", offset, " in ", stream_->path());
  }
  return stream_->Skip(offset - this->offset());
}

StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Open(const std::string& path, Compression compression) {
  TF_ASSIGN_OR_RETURN(File file, Env::Default().OpenWritable(path, Env::WriteMode::kReplace));
  if (compression == Compression::kNone) {
    return std::unique_ptr<RecordWriter>(std::make_unique<PlainWriter>(path, std::move(file)));
  }
  auto writer = std::make_unique<DeflatingWriter>(path, std::move(file));
  TF_RETURN_IF_ERROR(writer->Init(compression));
  return std::unique_ptr<RecordWriter>(std::move(writer));
}

Status RecordWriter::Write(std::string_view record) {
  const uint64_t length = record.size();
  std::string header(reinterpret_cast<const char*>(&length), sizeof length);
  const uint32_t header_crc = MaskCrc(Crc32c(header));
  header.append(reinterpret_cast<const char*>(&header_crc), sizeof header_crc);
  const uint32_t crc = MaskCrc(Crc32c(record));
  TF_RETURN_IF_ERROR(Append(header));
  TF_RETURN_IF_ERROR(Append(record));
  return Append({reinterpret_cast<const char*>(&crc), sizeof crc});
}

}  // namespace tensorbraid
