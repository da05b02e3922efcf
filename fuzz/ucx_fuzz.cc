// Reads frames as a task sends them through UCX: header size (u16), data size (u16), header, data. The data of a
// frame is filled in when the next header has been read: in a real lane, large data arrives after later headers.
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "core/memory/allocator.h"
#include "transport/codec.h"
#include "transport/ucx/ucx_frames.h"

namespace tensorbraid {
namespace {

void ReadAll(std::string_view bytes) {
  UcxInbox inbox(/*secret=*/7);
  UcxFrame* arriving = nullptr;
  std::string_view data;
  bool broken = false;
  while (!broken && bytes.size() >= 4) {
    uint16_t header_size, data_size;
    std::memcpy(&header_size, bytes.data(), 2);
    std::memcpy(&data_size, bytes.data() + 2, 2);
    bytes.remove_prefix(4);
    const std::string_view header = bytes.substr(0, header_size);
    bytes.remove_prefix(header.size());
    if (arriving != nullptr) {
      if (!data.empty()) {
        arriving->data = AllocateBuffer(data.size());
        std::memcpy(arriving->data->data(), data.data(), data.size());
      }
      arriving->complete = true;
    }
    for (const auto& frame : inbox.TakeComplete()) {
      if (frame->kind == UcxFrameKind::kClosing) continue;
      const StatusOr<Message> message = frame->Decode();
      if (!message.ok()) continue;
      if (const Payload* payload = PayloadOf(*message)) {
        std::vector<char> copy(payload->size());
        payload->CopyTo(copy.data());
      }
    }
    data = bytes.substr(0, data_size);
    bytes.remove_prefix(data.size());
    const StatusOr<UcxFrame*> added = inbox.Add(header, data.size());
    broken = !added.ok();
    arriving = broken ? nullptr : *added;
  }
}

}  // namespace
}  // namespace tensorbraid

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tensorbraid::ReadAll({reinterpret_cast<const char*>(data), size});
  return 0;
}
