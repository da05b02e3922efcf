#include "transport/messages.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tensorbraid {

void Payload::CopyTo(void* out) const {
  auto* to = static_cast<std::byte*>(out);
  for (const auto& piece : pieces) {
    if (piece.empty()) continue;
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  }
}

Payload Payload::Part(size_t offset, size_t count) const {
  Payload part;
  part.owner = owner;
  for (const auto& piece : pieces) {
    if (count == 0) break;
    if (offset >= piece.size()) {
      offset -= piece.size();
      continue;
    }
    const size_t n = std::min(count, piece.size() - offset);
    part.pieces.push_back(piece.subspan(offset, n));
    offset = 0;
    count -= n;
  }
  return part;
}

template <MessageKind Kind>
Message::Message(Kind message) : MessageVariant(std::move(message)) {}
template Message::Message(Heartbeat);
template Message::Message(Leave);
template Message::Message(GraphPart);
template Message::Message(RegisterGraph);
template Message::Message(DeregisterGraph);
template Message::Message(CloseSession);
template Message::Message(ResetContainers);
template Message::Message(Reply);
template Message::Message(RunGraph);
template Message::Message(StepDone);
template Message::Message(AbortStep);
template Message::Message(EndStep);
template Message::Message(EagerTensor);
template Message::Message(AnnounceTensor);
template Message::Message(GrantTensor);
template Message::Message(BulkTensor);
template Message::Message(EagerCredit);
template Message::Message(GetReport);
template Message::Message(WorkOver);

Message::Message(const Message&) = default;
Message::Message(Message&&) noexcept = default;
Message& Message::operator=(const Message&) = default;
Message& Message::operator=(Message&&) noexcept = default;
Message::~Message() = default;

}  // namespace tensorbraid
