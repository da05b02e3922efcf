#include "transport/calls.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

class TextBuffer final : public Buffer {
 public:
  explicit TextBuffer(std::string* text) : Buffer(text->data(), text->size()), text_(text) {}

 private:
  std::unique_ptr<std::string> text_;
};

constexpr uint64_t kMaxCallBytes = std::numeric_limits<int32_t>::max();

}  // namespace

Status CheckCallSize(const MessageParts& parts, const char* what) {
  uint64_t bytes = 0;
  for (const Payload& part : parts) bytes += part.size();
  if (bytes <= kMaxCallBytes) return OkStatus();
  return ResourceExhausted(what, " of ", bytes, " bytes exceeds the limit of ", kMaxCallBytes,
                           " bytes per message; feed or fetch less in one call");
}

Payload OwnedPayload(std::string text) {
  Payload payload;
  payload.owner = MakeRef<TextBuffer>(new std::string(std::move(text)));
  payload.pieces.push_back({static_cast<const std::byte*>(payload.owner->data()), payload.owner->size()});
  return payload;
}

}  // namespace tensorbraid
