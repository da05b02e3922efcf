#include "transport/calls.h"

#include <utility>

namespace tensorbraid {
namespace {

class TextBuffer final : public Buffer {
 public:
  explicit TextBuffer(std::string* text) : Buffer(text->data(), text->size()), text_(text) {}

 private:
  std::unique_ptr<std::string> text_;
};

}  // namespace

Payload OwnedPayload(std::string text) {
  Payload payload;
  payload.owner = MakeRef<TextBuffer>(new std::string(std::move(text)));
  payload.pieces.push_back({static_cast<const std::byte*>(payload.owner->data()), payload.owner->size()});
  return payload;
}

}  // namespace tensorbraid
