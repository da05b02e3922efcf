#include "transport/ucx/ucx_frames.h"

#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "core/text/strings.h"
#include "transport/codec.h"

namespace tensorbraid {
namespace {

static_assert(std::endian::native == std::endian::little);

// How far a frame may be ahead of the first one that is missing.
constexpr uint64_t kMaxOvertaking = 1 << 16;

}  // namespace

StatusOr<Message> UcxFrame::Decode() {
  const auto* const begin = data ? static_cast<const std::byte*>(data->data()) : nullptr;
  Payload payload;
  if (kind == UcxFrameKind::kSplit) {
    if (data) {
      payload.pieces = {{begin, size}};
      payload.owner = std::move(data);
    }
    return DecodeMessage(std::as_bytes(std::span(header)), std::move(payload));
  }
  if (size > header_bytes) payload.pieces = {{begin + header_bytes, size - header_bytes}};
  return DecodeMessage({begin, header_bytes}, std::move(payload));
}

StatusOr<UcxFrame*> UcxInbox::Add(std::string_view header, size_t size) {
  UcxFramePrefix prefix;
  if (header.size() < sizeof prefix) return nullptr;
  std::memcpy(&prefix, header.data(), sizeof prefix);
  if (prefix.secret != secret_) return nullptr;  // from a stranger
  if (prefix.kind == UcxFrameKind::kProbe) {
    probed_ = true;
    return nullptr;
  }
  const bool whole = prefix.kind == UcxFrameKind::kWhole;
  const bool is_known = whole || prefix.kind == UcxFrameKind::kSplit || prefix.kind == UcxFrameKind::kClosing;
  if (!is_known || prefix.sequence >= kSequences || (whole && prefix.header_bytes > size) || size > kMaxTensorBytes) {
    return InvalidArgument("a frame is not valid: kind ", static_cast<uint32_t>(prefix.kind), ", sequence ",
                           prefix.sequence, ", ", size, " bytes, of which ", prefix.header_bytes, " are a header");
  }
  Sequence& sequence = sequences_[prefix.sequence];
  const uint64_t place = prefix.number - sequence.next;  // wraps to a huge number if `number` has been taken already
  if (place > kMaxOvertaking || (place < sequence.frames.size() && sequence.frames[place] != nullptr)) {
    return InvalidArgument("frame ", prefix.number, " has arrived instead of ", sequence.next);
  }
  if (place >= sequence.frames.size()) sequence.frames.resize(place + 1);
  auto frame = std::make_unique<UcxFrame>();
  frame->kind = prefix.kind;
  frame->size = size;
  if (whole) frame->header_bytes = prefix.header_bytes;
  if (prefix.kind == UcxFrameKind::kSplit) frame->header = header.substr(sizeof prefix);
  sequence.frames[place] = std::move(frame);
  return sequence.frames[place].get();
}

std::vector<std::unique_ptr<UcxFrame>> UcxInbox::TakeComplete() {
  std::vector<std::unique_ptr<UcxFrame>> complete;
  for (Sequence& sequence : sequences_) {
    auto& frames = sequence.frames;
    while (!frames.empty() && frames.front() != nullptr && frames.front()->complete) {
      complete.push_back(std::move(frames.front()));
      frames.pop_front();
      ++sequence.next;
    }
  }
  return complete;
}

}  // namespace tensorbraid
