#include "io/idx.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/strings.h"

namespace tensorbraid {
namespace {

constexpr int kUnsignedByte = 0x08;
// Deflate never shrinks data by more than this.
constexpr int64_t kMaxCompression = 1032;

struct GzClose {
  void operator()(gzFile file) const { gzclose_r(file); }
};

// A gzipped or plain file read from front to back.
class GzReader {
 public:
  static StatusOr<GzReader> Open(const std::string& path) {
    struct stat info {};
    errno = 0;
    gzFile file = ::stat(path.c_str(), &info) == 0 ? gzopen(path.c_str(), "rb") : nullptr;
    if (file == nullptr) return absl::ErrnoToStatus(errno == 0 ? ENOMEM : errno, "cannot open " + path);
    if (!S_ISREG(info.st_mode)) {
      gzclose_r(file);
      return InvalidArgument(path, " is not a regular file");
    }
    gzbuffer(file, 1 << 17);
    return GzReader(path, file, info.st_size);
  }

  // Bytes on disk.
  int64_t file_size() const { return file_size_; }

  // DataLoss when fewer than `size` bytes follow or the compressed stream is broken.
  Status ReadExactly(void* out, int64_t size, const char* what) {
    auto* bytes = static_cast<char*>(out);
    while (size > 0) {
      const int got = gzread(file_.get(), bytes, static_cast<unsigned>(std::min<int64_t>(size, 1 << 30)));
      TF_RETURN_IF_ERROR(StreamStatus());
      if (got <= 0) return Bad(StrCat("it ends ", size, " bytes before the end of its ", what));
      bytes += got;
      size -= got;
    }
    return OkStatus();
  }

  // DataLoss when anything follows, or when the end of a compressed stream with its checksum is missing.
  Status ExpectEnd() {
    char extra;
    const int got = gzread(file_.get(), &extra, 1);
    TF_RETURN_IF_ERROR(StreamStatus());
    return got > 0 ? Bad("more data than its header announces") : OkStatus();
  }

  Status Bad(const std::string& why) const { return DataLoss(path_, ": ", why); }

 private:
  GzReader(std::string path, gzFile file, int64_t size) : path_(std::move(path)), file_(file), file_size_(size) {}

  Status StreamStatus() const {
    int error = Z_OK;
    const char* message = gzerror(file_.get(), &error);
    if (error == Z_OK || error == Z_STREAM_END) return OkStatus();
    if (error == Z_BUF_ERROR) return Bad("the compressed data is cut short");
    return Bad(StrCat("cannot be read: ", message));
  }

  std::string path_;
  std::unique_ptr<gzFile_s, GzClose> file_;
  int64_t file_size_;
};

uint32_t BigEndian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

}  // namespace

StatusOr<Tensor> ReadIdx(const std::string& path) {
  TF_ASSIGN_OR_RETURN(GzReader reader, GzReader::Open(path));
  unsigned char magic[4];
  TF_RETURN_IF_ERROR(reader.ReadExactly(magic, sizeof magic, "magic number"));
  const int type = magic[2];
  const int rank = magic[3];
  if (magic[0] != 0 || magic[1] != 0 || rank == 0) {
    return reader.Bad(StrCat("no idx file: its magic number is 0x", absl::Hex(BigEndian(magic), absl::kZeroPad8)));
  }
  if (type != kUnsignedByte) {
    return reader.Bad(
        StrCat("elements of type 0x", absl::Hex(type, absl::kZeroPad2), "; unsigned bytes (0x08) are read"));
  }
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    unsigned char size[4];
    TF_RETURN_IF_ERROR(reader.ReadExactly(size, sizeof size, "header"));
    shape.AddDim(BigEndian(size));
  }
  const int64_t count = shape.num_elements();
  if (count < 0 || count / kMaxCompression > reader.file_size()) {
    return reader.Bad(StrCat("its header announces shape ", shape, ", more than the file can hold"));
  }
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(kUint8, shape));
  TF_RETURN_IF_ERROR(reader.ReadExactly(tensor.mutable_raw_data(), count, "elements"));
  TF_RETURN_IF_ERROR(reader.ExpectEnd());
  return tensor;
}

}  // namespace tensorbraid
