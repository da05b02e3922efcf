#include "transport/messages.h"

#include <algorithm>
#include <cstring>

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

}  // namespace tensorbraid
