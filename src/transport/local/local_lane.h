// A connection between two neighbours beside gRPC: rings for messages, and shared memory for their payloads.
#ifndef TENSORBRAID_TRANSPORT_LOCAL_LOCAL_LANE_H_
#define TENSORBRAID_TRANSPORT_LOCAL_LOCAL_LANE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "core/memory/shared_memory.h"
#include "core/system/fd.h"
#include "core/threads/mutex.h"
#include "transport/local/ring.h"
#include "transport/side_lane/side_lane.h"

namespace tensorbraid {

struct LocalLaneOptions {
  size_t ring_bytes = 256 << 10;  // of each direction; a power of two
  size_t inline_bytes = 4 << 10;  // larger payloads are lent, smaller ones are copied into the ring
};

// One end of the connection between two neighbours. The connection consists of a ring for each direction, of segments
// that each side maps for reading, and of the socket that passes the descriptors of the segments.
//
// A payload in shared memory is not copied but lent: its buffers stay as they are until the neighbour gives them back.
// The neighbour does so when it drops the last tensor that uses one of them. A neighbour may hold tensors longer than
// the link lives. Then it ends all loans by closing its direction of the socket, once it has dropped the last such
// tensor. If its process ends, this closes the socket too.
//
// Thread-safe, except for the functions of the reader, which only one thread may call.
class LocalLane final : public SideLane, public std::enable_shared_from_this<LocalLane> {
 public:
  // Creates the segment with the two rings, at the side that connects. It has RingsSize bytes.
  static StatusOr<std::shared_ptr<SharedSegment>> NewRings(const LocalLaneOptions& options);
  static size_t RingsSize(const LocalLaneOptions& options);
  // `rings` is that segment, mapped at this side. `connected`: this side has connected. `socket` leads to the
  // neighbour.
  LocalLane(const LocalLaneOptions& options, std::shared_ptr<SharedSegment> rings, bool connected, Fd socket);

  // Bytes that have no room in the ring are queued, and are sent when the reader of this side runs.
  Status Send(const Message& message, bool urgent) override;
  bool shares_memory() const override { return true; }
  bool Share(Payload* payload) override;

  // A payload that was lent has an owner.
  StatusOr<bool> Receive(const std::function<void(Message)>& on_message) override;
  void Sleep(const std::function<bool()>& wanted) override;
  void Wake() override { in_.RingBell(); }
  // Buffers that are lent to the neighbour stay until it has given them back.
  void End() override;

 private:
  class LentBuffer;
  friend class LoanWatcher;

  // Call these with mu_ held; sending appends to the queue if the ring is full.
  void Append(std::span<const std::byte> bytes) TB_REQUIRES(mu_);
  void AppendFrame(uint32_t kind, uint32_t header_bytes, uint64_t value) TB_REQUIRES(mu_);
  void Flush() TB_REQUIRES(mu_);
  // Whether bytes are queued and the ring has room for them now.
  bool CanFlush();
  // If `lend` is true, the payload must be in shared memory.
  void AppendMessage(std::string_view header, const Payload& payload, bool lend) TB_REQUIRES(mu_);
  // Announces a segment to the neighbour, unless the neighbour knows it already. False if that is not possible now.
  bool Announce(const std::shared_ptr<SharedSegment>& segment) TB_REQUIRES(mu_);

  Status SendPacket(const Message& message, const Payload& payload, bool lend, bool urgent);

  // Handles the frame at the beginning of `bytes` and returns its size, or 0 if it is not complete.
  StatusOr<size_t> HandleFrame(std::string_view bytes, const std::function<void(Message)>& on_message);
  StatusOr<Payload> Borrow(std::string_view loan, uint64_t bytes);
  void GiveBack(uint64_t loan);
  // Ends all loans to the neighbour.
  void DropLoans();

  const LocalLaneOptions options_;
  const std::shared_ptr<SharedSegment> rings_;
  const Fd socket_;
  Ring in_;           // used by the reader
  std::string read_;  // bytes of frames that are not complete; used by the reader
  absl::flat_hash_map<uint64_t, std::shared_ptr<SharedSegment>> neighbours_segments_;  // used by the reader

  Mutex mu_;
  Ring out_ TB_GUARDED_BY(mu_);
  std::string queue_ TB_GUARDED_BY(mu_);  // bytes that had no room in `out_`, from queue_begin_ on
  size_t queue_begin_ TB_GUARDED_BY(mu_) = 0;
  Status broken_ TB_GUARDED_BY(mu_);  // why nothing can be sent any more
  bool ended_ TB_GUARDED_BY(mu_) = false;
  uint64_t last_loan_ TB_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<uint64_t, RefPtr<Buffer>> lent_ TB_GUARDED_BY(mu_);
  // The segments that the neighbour has been told of.
  absl::flat_hash_map<uint64_t, std::weak_ptr<SharedSegment>> announced_ TB_GUARDED_BY(mu_);
  uint64_t borrowed_ TB_GUARDED_BY(mu_) = 0;  // buffers of the neighbour that tensors here use
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_LOCAL_LOCAL_LANE_H_
