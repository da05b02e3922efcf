// Converts packets (codec.h) to and from gRPC's byte buffers.
#ifndef TENSORBRAID_TRANSPORT_GRPC_PACKETS_H_
#define TENSORBRAID_TRANSPORT_GRPC_PACKETS_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "transport/calls.h"
#include "transport/grpc/bulk_window.h"

namespace tensorbraid {

// The message as a gRPC buffer. Small pieces are copied; large pieces that have an owner are passed by reference, and
// gRPC holds the owner until they are sent.
grpc::ByteBuffer ToByteBuffer(const MessageParts& message);

// The queue of data to be written to one stream. Not thread-safe.
class Outbox {
 public:
  explicit Outbox(size_t bulk_part_bytes) : bulk_part_bytes_(bulk_part_bytes) {}

  // How many bytes of bulk tensors may be on the way: sent, and not acknowledged.
  void set_bulk_window(size_t bytes) { bulk_window_ = bytes; }
  // The other side has received this many bytes of bulk tensors in total.
  void Acknowledged(uint64_t bytes);

  // Queues complete packets, followed by `payload` unless it is null. Small payloads are copied, large ones passed by
  // reference.
  void AddPackets(const std::string& packets, const Payload* payload);
  // Queues a tensor, which is sent in parts. Steps are sent in the order of their first tensors. Within a step, edges
  // with lower numbers go first, also when parts of another tensor have been sent: a partition numbers its edges in the
  // order in which the graph uses them, so the parameters of the first layers arrive first.
  void AddBulk(BulkTensor tensor);
  // Takes the next gRPC message from the queue: whole packets, at most 1 MiB of them unless a single packet is larger.
  // Bulk tensors follow when no other packets are left, bulk_part_bytes at a time. False when the queue is empty, or
  // when only bulk tensors are queued and the window has no room for them.
  bool Next(grpc::ByteBuffer* out);
  void Clear();

 private:
  // Packets that leave in one gRPC message. `inserts` are payloads passed by reference; each belongs at its position in
  // `text`.
  struct Batch {
    struct Insert {
      size_t position;
      grpc::Slice slice;
    };
    std::string text;
    std::vector<Insert> inserts;
    size_t bytes = 0;
  };
  static void Append(const Payload& payload, Batch* batch);
  grpc::ByteBuffer Flatten(Batch batch);
  bool NextBulk(Batch* batch);

  const size_t bulk_part_bytes_;
  size_t bulk_window_ = kMinBulkWindow;
  uint64_t bulk_sent_ = 0, bulk_acknowledged_ = 0;  // bytes
  std::deque<Batch> batches_;
  std::deque<BulkTensor> bulk_;
  std::string spare_;  // the text of the last batch; its memory is reused
};

// Reads the packets of one received gRPC message. Payloads point into the reader, which must outlive them; a header is
// valid until the next call of Next().
class PacketReader {
 public:
  explicit PacketReader(const grpc::ByteBuffer& message);

  // The next packet; false at the end of the message. InvalidArgument when the message is not made of whole packets.
  StatusOr<bool> Next(std::span<const std::byte>* header, Payload* payload);
  bool at_end() const { return remaining_ == 0; }

 private:
  // The next `count` bytes as one piece; copies them to `scratch` when they span several slices. REQUIRES: that many
  // bytes remain.
  std::span<const std::byte> Take(size_t count, std::string* scratch);

  std::vector<grpc::Slice> slices_;
  size_t index_ = 0;   // the current slice
  size_t offset_ = 0;  // within the current slice
  size_t remaining_ = 0;
  std::string prefix_scratch_, header_scratch_;
};

// The header of a handshake message, which must consist of a single packet without payload. InvalidArgument if it is
// anything else.
StatusOr<std::span<const std::byte>> OnlyHeader(PacketReader* reader);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_PACKETS_H_
