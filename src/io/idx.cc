#include "io/idx.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/system/env.h"
#include "core/text/strings.h"
#include "io/input_stream.h"

namespace tensorbraid {
namespace {

constexpr int kUnsignedByte = 0x08;
// Deflate cannot compress data by more than this factor.
constexpr int64_t kMaxCompression = 1032;

// A gzipped or plain file read from front to back.
class IdxFile {
 public:
  static StatusOr<IdxFile> Open(const std::string& path) {
    TF_ASSIGN_OR_RETURN(const FileInfo info, Env::Default().Stat(path));
    if (!info.is_regular) return InvalidArgument(path, " is not a regular file");
    TF_ASSIGN_OR_RETURN(auto stream, InputStream::Open(path));
    std::string magic;
    const Status read = stream->Read(2, &magic);
    if (!read.ok() && !absl::IsOutOfRange(read)) return read;
    const Compression compression = magic == "\x1f\x8b" ? Compression::kGzip : Compression::kNone;
    TF_ASSIGN_OR_RETURN(stream, InputStream::Open(path, compression));
    return IdxFile(std::move(stream), static_cast<int64_t>(info.size));
  }

  // Size on disk in bytes.
  int64_t file_size() const { return file_size_; }

  // DataLoss if fewer than `size` bytes follow or the compressed stream is damaged.
  Status ReadExactly(void* out, int64_t size, const char* what) {
    constexpr int64_t kPiece = 1 << 20;
    auto* to = static_cast<char*>(out);
    std::string piece;
    while (size > 0) {
      const Status read = stream_->Read(std::min(size, kPiece), &piece);
      std::memcpy(to, piece.data(), piece.size());
      to += piece.size();
      size -= static_cast<int64_t>(piece.size());
      if (absl::IsOutOfRange(read)) return Bad(StrCat("the file ends ", size, " bytes before the end of its ", what));
      TF_RETURN_IF_ERROR(read);
    }
    return OkStatus();
  }

  // DataLoss if more data follows, or if the end of a compressed stream, with its checksum, is missing.
  Status ExpectEnd() {
    std::string extra;
    const Status read = stream_->Read(1, &extra);
    if (read.ok()) return Bad("the file has more data than its header claims");
    return absl::IsOutOfRange(read) ? OkStatus() : read;
  }

  Status Bad(const std::string& why) const { return DataLoss(stream_->path(), ": ", why); }

 private:
  IdxFile(std::unique_ptr<InputStream> stream, int64_t size) : stream_(std::move(stream)), file_size_(size) {}

  std::unique_ptr<InputStream> stream_;
  int64_t file_size_;
};

uint32_t BigEndian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

}  // namespace

StatusOr<Tensor> ReadIdx(const std::string& path) {
  TF_ASSIGN_OR_RETURN(IdxFile reader, IdxFile::Open(path));
  unsigned char magic[4];
  TF_RETURN_IF_ERROR(reader.ReadExactly(magic, sizeof magic, "magic number"));
  const int type = magic[2];
  const int rank = magic[3];
  if (magic[0] != 0 || magic[1] != 0 || rank == 0) {
    return reader.Bad(StrCat("not an idx file: its magic number is 0x", absl::Hex(BigEndian(magic), absl::kZeroPad8)));
  }
  if (type != kUnsignedByte) {
    return reader.Bad(StrCat("its elements have type 0x", absl::Hex(type, absl::kZeroPad2),
                             "; only unsigned bytes (0x08) are supported"));
  }
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    unsigned char size[4];
    TF_RETURN_IF_ERROR(reader.ReadExactly(size, sizeof size, "header"));
    shape.AddDim(BigEndian(size));
  }
  const int64_t count = shape.num_elements();
  if (count < 0 || count / kMaxCompression > reader.file_size()) {
    return reader.Bad(StrCat("its header claims shape ", shape, ", which is more than the file can hold"));
  }
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(kUint8, shape));
  TF_RETURN_IF_ERROR(reader.ReadExactly(tensor.inplace_raw_data(), count, "elements"));
  TF_RETURN_IF_ERROR(reader.ExpectEnd());
  return tensor;
}

}  // namespace tensorbraid
