#include "cluster/proto_io.h"

#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message_lite.h>

#include <limits>

namespace tensorbraid {
namespace {

// Reads the pieces in place.
class PieceStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit PieceStream(const Payload& payload) : pieces_(payload.pieces) {}
  bool Next(const void** data, int* size) override {
    while (index_ < pieces_.size() && offset_ == pieces_[index_].size()) {
      ++index_;
      offset_ = 0;
    }
    if (index_ == pieces_.size()) return false;
    const auto rest = pieces_[index_].subspan(offset_);
    const size_t count = std::min<size_t>(rest.size(), std::numeric_limits<int>::max());
    *data = rest.data();
    *size = static_cast<int>(count);
    offset_ += count;
    read_ += static_cast<int64_t>(count);
    return true;
  }
  void BackUp(int count) override {
    offset_ -= static_cast<size_t>(count);
    read_ -= count;
  }
  bool Skip(int count) override {
    while (count > 0) {
      const void* data;
      int size;
      if (!Next(&data, &size)) return false;
      if (size > count) BackUp(size - count);
      count -= std::min(count, size);
    }
    return true;
  }
  int64_t ByteCount() const override { return read_; }

 private:
  const absl::InlinedVector<std::span<const std::byte>, 1>& pieces_;
  size_t index_ = 0;
  size_t offset_ = 0;
  int64_t read_ = 0;
};

// The length of the UTF-8 sequence at the beginning of `s`, or 0 when there is none.
size_t SequenceLength(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || s.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

}  // namespace

bool ParseMessage(const Payload& bytes, google::protobuf::MessageLite* message) {
  PieceStream stream(bytes);
  return bytes.size() <= std::numeric_limits<int>::max() && message->ParseFromZeroCopyStream(&stream);
}

MessageParts SerializeMessage(const google::protobuf::MessageLite& message) {
  return {OwnedPayload(message.SerializeAsString())};
}

std::string ToUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    out += length == 0 ? std::string_view("?") : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return out;
}

}  // namespace tensorbraid
