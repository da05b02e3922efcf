#include "io/input_stream.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "core/system/env.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr int64_t kDefaultBuffer = 256 << 10;
constexpr int64_t kMaxBuffer = 64 << 20;
constexpr int kWindowBits = 15;
constexpr int kGzipHeader = 16;  // added to the window bits: expect gzip's header and checksum

class FileStream final : public InputStream {
 public:
  FileStream(std::string path, std::unique_ptr<SequentialFile> file, int64_t buffer_size)
      : InputStream(std::move(path)), file_(std::move(file)) {
    buffer_.resize(static_cast<size_t>(buffer_size));
  }

  StatusOr<std::string_view> Next() override {
    TF_ASSIGN_OR_RETURN(const size_t got, file_->Read(buffer_.size(), buffer_.data()));
    return std::string_view(buffer_.data(), got);
  }

 private:
  const std::unique_ptr<SequentialFile> file_;
  std::vector<char> buffer_;
};

class InflatingStream final : public InputStream {
 public:
  static StatusOr<std::unique_ptr<InputStream>> Make(std::unique_ptr<FileStream> file, Compression compression,
                                                     int64_t buffer_size) {
    auto stream = std::unique_ptr<InflatingStream>(new InflatingStream(std::move(file), buffer_size));
    if (inflateInit2(&stream->z_, kWindowBits + (compression == Compression::kGzip ? kGzipHeader : 0)) != Z_OK) {
      return ResourceExhausted("not enough memory to decompress ", stream->path());
    }
    return std::unique_ptr<InputStream>(std::move(stream));
  }
  ~InflatingStream() override { inflateEnd(&z_); }

  StatusOr<std::string_view> Next() override {
    z_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    z_.avail_out = static_cast<uInt>(buffer_.size());
    while (z_.avail_out == buffer_.size()) {
      if (z_.avail_in == 0) {
        TF_ASSIGN_OR_RETURN(const std::string_view more, file_->Next());
        if (more.empty()) {
          if (between_members_) break;
          return DataLoss(path(), ": the compressed data is truncated");
        }
        z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(more.data()));
        z_.avail_in = static_cast<uInt>(more.size());
      }
      between_members_ = false;
      const int result = inflate(&z_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {  // gzip files may be concatenated: another member may follow
        between_members_ = true;
        inflateReset(&z_);
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return DataLoss(path(), ": cannot be decompressed: ", z_.msg != nullptr ? z_.msg : "damaged data");
      }
    }
    return std::string_view(buffer_.data(), buffer_.size() - z_.avail_out);
  }

 private:
  InflatingStream(std::unique_ptr<FileStream> file, int64_t buffer_size)
      : InputStream(file->path()), file_(std::move(file)) {
    buffer_.resize(static_cast<size_t>(buffer_size));
  }

  std::unique_ptr<FileStream> file_;
  z_stream z_{};
  std::vector<char> buffer_;
  bool between_members_ = true;  // whether the input may end here
};

}  // namespace

StatusOr<Compression> CompressionFromName(std::string_view name) {
  if (name.empty()) return Compression::kNone;
  if (name == "ZLIB") return Compression::kZlib;
  if (name == "GZIP") return Compression::kGzip;
  return InvalidArgument("unknown compression '", name, "'; expected '', 'ZLIB' or 'GZIP'");
}

StatusOr<std::unique_ptr<InputStream>> InputStream::Open(const std::string& path, Compression compression,
                                                         int64_t buffer_size) {
  StatusOr<std::unique_ptr<SequentialFile>> found = Env::Default().OpenSequential(path);
  const size_t end = path.find("://");
  if (absl::IsNotFound(found.status()) && end != std::string::npos && !path.starts_with("file://")) {
    return Unimplemented("File system scheme '", path.substr(0, end), "' not implemented (file: '", path, "')");
  }
  TF_ASSIGN_OR_RETURN(auto opened, std::move(found));
  if (buffer_size <= 0) buffer_size = kDefaultBuffer;
  buffer_size = std::min(buffer_size, kMaxBuffer);
  auto file = std::make_unique<FileStream>(path, std::move(opened), buffer_size);
  if (compression == Compression::kNone) return std::unique_ptr<InputStream>(std::move(file));
  return InflatingStream::Make(std::move(file), compression, buffer_size);
}

Status InputStream::Fill() {
  if (!rest_.empty()) return OkStatus();
  TF_ASSIGN_OR_RETURN(rest_, Next());
  return rest_.empty() ? OutOfRange("end of ", path_) : OkStatus();
}

Status InputStream::Read(int64_t count, std::string* out) {
  out->clear();
  while (count > 0) {
    TF_RETURN_IF_ERROR(Fill());
    const size_t taken = std::min(static_cast<size_t>(count), rest_.size());
    out->append(rest_.substr(0, taken));
    rest_.remove_prefix(taken);
    count -= static_cast<int64_t>(taken);
    position_ += static_cast<int64_t>(taken);
  }
  return OkStatus();
}

Status InputStream::ReadAll(std::string* out) {
  Status status = Fill();
  for (; status.ok(); status = Fill()) {
    out->append(rest_);
    position_ += static_cast<int64_t>(rest_.size());
    rest_ = {};
  }
  return absl::IsOutOfRange(status) ? OkStatus() : status;
}

Status InputStream::ReadLine(std::string* line) {
  line->clear();
  TF_RETURN_IF_ERROR(Fill());
  bool ended = false;
  while (!ended) {
    const size_t end = rest_.find('\n');
    ended = end != std::string_view::npos;
    const std::string_view part = rest_.substr(0, end);
    const size_t before = line->size();
    line->append(part);
    if (part.find('\r') != std::string_view::npos) {
      line->erase(std::remove(line->begin() + static_cast<std::ptrdiff_t>(before), line->end(), '\r'), line->end());
    }
    const size_t taken = part.size() + (ended ? 1 : 0);
    rest_.remove_prefix(taken);
    position_ += static_cast<int64_t>(taken);
    if (ended) break;
    const Status more = Fill();
    if (absl::IsOutOfRange(more)) break;
    TF_RETURN_IF_ERROR(more);
  }
  return OkStatus();
}

Status InputStream::Skip(int64_t count) {
  while (count > 0) {
    TF_RETURN_IF_ERROR(Fill());
    const size_t taken = std::min(static_cast<size_t>(count), rest_.size());
    rest_.remove_prefix(taken);
    count -= static_cast<int64_t>(taken);
    position_ += static_cast<int64_t>(taken);
  }
  return OkStatus();
}

}  // namespace tensorbraid
