// Reads the bytes that an untrusted neighbour (a task on the same machine) writes to a ring in shared memory. Before,
// the neighbour has passed two segments of shared memory: a valid one, and one whose size it may still change. Bit 0 of
// the first byte says whether the neighbour also overwrites the counters of the ring.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "transport/codec.h"
#include "transport/local/lane_socket.h"
#include "transport/local/local_lane.h"

namespace tensorbraid {
namespace {

constexpr size_t kSegmentBytes = 64 << 10;

void PassSegments(const Fd& socket) {
  const auto sealed = SharedSegment::Create(kSegmentBytes, SharedSegment::Others::kMayRead);
  const Fd unsealed(memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!sealed.ok() || ftruncate(unsealed.get(), kSegmentBytes) != 0) std::abort();
  if (!SendFd(socket, {.a = 1, .b = kSegmentBytes, .c = 0}, (*sealed)->fd()).ok()) std::abort();
  if (!SendFd(socket, {.a = 2, .b = kSegmentBytes, .c = 0}, unsealed.get()).ok()) std::abort();
}

void ReadAll(std::string_view bytes, bool writes_counters) {
  const LocalLaneOptions options{.ring_bytes = 1 << 10, .inline_bytes = 64};
  int ends[2];
  const auto rings = LocalLane::NewRings(options);
  if (!rings.ok() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) std::abort();
  const Fd neighbour(ends[0]);
  PassSegments(neighbour);
  const auto lane = std::make_shared<LocalLane>(options, *rings, /*connected=*/false, Fd(ends[1]));
  // Messages whose payloads are in the neighbour's memory. Dropping such a message would give its payload back.
  std::vector<Message> messages;
  Ring ring((*rings)->data(), options.ring_bytes);
  // Reads the payload, as the receiver of a tensor does, and sends an answer.
  const auto on_message = [&](Message m) {
    if (const Payload* payload = PayloadOf(m)) {
      std::vector<char> copy(payload->size());
      payload->CopyTo(copy.data());
      if (payload->owner) messages.push_back(std::move(m));
    }
    lane->Send(Heartbeat{}, false).IgnoreError();
  };
  bool broken = false;
  while (!broken && !bytes.empty()) {
    const auto written = ring.Write(std::as_bytes(std::span(bytes)));
    if (!written.ok()) break;
    // Receive has emptied the ring, but the counters that the neighbour wrote say that it is full; nothing more can be
    // written.
    if (*written == 0) break;
    bytes.remove_prefix(*written);
    if (writes_counters && bytes.size() >= 8) {
      // The counters of written and of read bytes are at offsets 0 and 64 (Ring::Header).
      std::memcpy((*rings)->data() + (bytes[0] & 1) * 64, bytes.data(), 8);
      bytes.remove_prefix(8);
    }
    broken = !lane->Receive(on_message).ok();
  }
  lane->End();
}

}  // namespace
}  // namespace tensorbraid

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tensorbraid::ReadAll(bytes.substr(1), (bytes[0] & 1) != 0);
  return 0;
}
