#include "cluster/protobuf/proto_io.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <limits>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// More than any real message has. Bounds the memory for a message that consists of empty fields.
constexpr size_t kMaxFields = size_t{1} << 20;

// Reads the pieces of a payload in place.
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

// The length of the UTF-8 sequence at the beginning of `s`, or 0 if it is invalid. REQUIRES: `s` is not empty.
size_t SequenceLength(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || s.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Refuses overlong forms, surrogates, and code points above U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

}  // namespace

bool ParseMessage(const Payload& bytes, google::protobuf::MessageLite* message) {
  PieceStream stream(bytes);
  return bytes.size() <= std::numeric_limits<int>::max() && message->ParseFromZeroCopyStream(&stream);
}

StatusOr<std::vector<Payload>> TakeFields(const Payload& message, int field, std::string* rest) {
  using google::protobuf::internal::WireFormatLite;
  const Status bad = InvalidArgument("cannot parse a protobuf message of ", message.size(), " bytes");
  const size_t size = message.size();
  if (size > std::numeric_limits<int>::max()) return bad;
  PieceStream pieces(message);
  google::protobuf::io::CodedInputStream in(&pieces);
  google::protobuf::io::StringOutputStream out_bytes(rest);
  google::protobuf::io::CodedOutputStream out(&out_bytes);
  std::vector<Payload> found;
  // The piece in which the last field began, and the number of bytes before that piece.
  size_t piece = 0, before = 0;
  const auto part = [&](size_t at, size_t count) {
    Payload part;
    part.owner = message.owner;
    while (before + message.pieces[piece].size() <= at) before += message.pieces[piece++].size();
    for (size_t i = piece, offset = at - before; count > 0; ++i, offset = 0) {
      const size_t n = std::min(count, message.pieces[i].size() - offset);
      if (n > 0) part.pieces.push_back(message.pieces[i].subspan(offset, n));
      count -= n;
    }
    return part;
  };
  while (const uint32_t tag = in.ReadTag()) {
    if (WireFormatLite::GetTagFieldNumber(tag) != field) {
      if (!WireFormatLite::SkipField(&in, tag, &out)) return bad;
      continue;
    }
    uint32_t length;
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED || !in.ReadVarint32(&length)) {
      return bad;
    }
    const auto at = static_cast<size_t>(in.CurrentPosition());
    if (length > size - at || found.size() == kMaxFields) return bad;
    found.push_back(length == 0 ? Payload() : part(at, length));
    if (!in.Skip(static_cast<int>(length))) return bad;
  }
  if (!in.ConsumedEntireMessage()) return bad;
  return found;
}

MessageParts SerializeMessage(const google::protobuf::MessageLite& message) {
  return {OwnedPayload(message.SerializeAsString())};
}

bool ReadRequest(const std::shared_ptr<Call>& call, google::protobuf::MessageLite* request) {
  if (ParseMessage(call->request(), request)) return true;
  call->Fail(InvalidArgument("cannot parse the request of ", call->method()));
  return false;
}

bool ReadRequestWithTensors(const std::shared_ptr<Call>& call, int field, google::protobuf::MessageLite* request,
                            std::vector<Payload>* tensors) {
  std::string rest;
  auto found = TakeFields(call->request(), field, &rest);
  if (!found.ok() || !request->ParseFromString(rest)) {
    call->Fail(InvalidArgument("cannot parse the request of ", call->method()));
    return false;
  }
  *tensors = *std::move(found);
  return true;
}

void AnswerCall(const std::shared_ptr<Call>& call, const google::protobuf::MessageLite& answer) {
  call->Answer(SerializeMessage(answer));
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
