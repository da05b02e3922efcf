#include "cli/http2_header_adder.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tensorbraid {
namespace {

constexpr size_t kFrameHeaderBytes = 9;  // length (3), type, flags, stream (4)
constexpr char kHeaders = 0x1, kContinuation = 0x9;
constexpr unsigned char kEndHeaders = 0x4;

// Appends a string literal of header compression (RFC 7541, section 5.2), without Huffman coding: the length, which may
// take several bytes, and the text.
void AppendLiteral(std::string_view text, std::string* out) {
  constexpr size_t kPrefix = 127;  // the largest value of seven bits
  if (text.size() < kPrefix) {
    out->push_back(static_cast<char>(text.size()));
  } else {
    out->push_back(static_cast<char>(kPrefix));
    size_t rest = text.size() - kPrefix;
    for (; rest >= 128; rest >>= 7) out->push_back(static_cast<char>(128 | (rest & 127)));
    out->push_back(static_cast<char>(rest));
  }
  out->append(text);
}

std::string NeverIndexedField(std::string_view name, std::string_view value) {
  std::string field(1, '\x10');  // a literal that is never indexed, with a new name (section 6.2.3)
  AppendLiteral(name, &field);
  AppendLiteral(value, &field);
  return field;
}

}  // namespace

Http2HeaderAdder::Http2HeaderAdder(std::string_view name, std::string_view value)
    : field_(NeverIndexedField(name, value)) {}

void Http2HeaderAdder::Pass(std::string_view bytes, std::string* out) {
  const auto take = [&bytes](size_t size) {
    const std::string_view taken = bytes.substr(0, size);
    bytes.remove_prefix(taken.size());
    return taken;
  };
  const std::string_view preface = take(preface_left_);
  out->append(preface);
  preface_left_ -= preface.size();
  while (!bytes.empty()) {
    if (payload_left_ > 0) {
      const std::string_view payload = take(payload_left_);
      out->append(payload);
      payload_left_ -= payload.size();
      if (payload_left_ == 0) EndFrame(out);
      continue;
    }
    header_.append(take(kFrameHeaderBytes - header_.size()));
    if (header_.size() < kFrameHeaderBytes) return;
    std::string header = std::exchange(header_, {});
    const auto byte = [&header](size_t i) { return static_cast<unsigned char>(header[i]); };
    payload_left_ = size_t{byte(0)} << 16 | size_t{byte(1)} << 8 | byte(2);
    if ((header[3] == kHeaders || header[3] == kContinuation) && (byte(4) & kEndHeaders) != 0) {
      ends_block_ = header.substr(5);
      header[4] = static_cast<char>(byte(4) & ~kEndHeaders);
    }
    out->append(header);
    if (payload_left_ == 0) EndFrame(out);
  }
}

void Http2HeaderAdder::EndFrame(std::string* out) {
  if (ends_block_.empty()) return;
  out->push_back(0);
  out->push_back(static_cast<char>(field_.size() >> 8));
  out->push_back(static_cast<char>(field_.size() & 0xff));
  out->push_back(kContinuation);
  out->push_back(static_cast<char>(kEndHeaders));
  out->append(ends_block_);
  out->append(field_);
  ends_block_.clear();
}

}  // namespace tensorbraid
