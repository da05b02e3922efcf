#include "io/inflate.h"

#include <zlib.h>

#include <array>

#include "core/text/strings.h"

namespace tensorbraid {

StatusOr<std::string> Inflate(std::string_view bytes, Compression compression, int64_t max_bytes) {
  if (compression == Compression::kNone) return std::string(bytes);
  struct Stream : z_stream {
    Stream() : z_stream{} {}
    ~Stream() { inflateEnd(this); }
  } z;
  // 15: the largest window; + 16: gzip's header and checksum.
  if (inflateInit2(&z, 15 + (compression == Compression::kGzip ? 16 : 0)) != Z_OK) {
    return ResourceExhausted("not enough memory to decompress");
  }
  constexpr size_t kPiece = size_t{1} << 30;  // zlib's sizes have 32 bits
  std::array<char, 64 << 10> buffer;
  std::string out;
  bool ended = false;
  while (true) {
    if (z.avail_in == 0 && !bytes.empty()) {
      const std::string_view piece = bytes.substr(0, kPiece);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
      z.avail_in = static_cast<uInt>(piece.size());
      bytes.remove_prefix(piece.size());
    }
    if (z.avail_in == 0 && ended) return out;
    z.next_out = reinterpret_cast<Bytef*>(buffer.data());
    z.avail_out = static_cast<uInt>(buffer.size());
    const int result = inflate(&z, Z_NO_FLUSH);
    out.append(buffer.data(), buffer.size() - z.avail_out);
    if (static_cast<int64_t>(out.size()) > max_bytes) {
      return ResourceExhausted("the decompressed data has more than ", max_bytes, " bytes");
    }
    ended = result == Z_STREAM_END;
    if (ended) {
      inflateReset(&z);  // gzip's format allows several members, one after the other
    } else if (result == Z_BUF_ERROR) {
      return DataLoss("the compressed data is truncated");
    } else if (result != Z_OK) {
      return DataLoss("cannot be decompressed: ", z.msg != nullptr ? z.msg : "damaged data");
    }
  }
}

}  // namespace tensorbraid
