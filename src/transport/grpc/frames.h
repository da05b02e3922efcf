// Frames (codec.h) to and from gRPC's byte buffers.
#ifndef TENSORBRAID_TRANSPORT_GRPC_FRAMES_H_
#define TENSORBRAID_TRANSPORT_GRPC_FRAMES_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "transport/calls.h"

namespace tensorbraid {

// The message as gRPC takes it: small pieces copied, large ones that have an owner lent until they are sent.
grpc::ByteBuffer ToByteBuffer(const MessageParts& message);

// What waits to be written to one stream. Not thread-safe.
class Outbox {
 public:
  explicit Outbox(size_t bulk_part_bytes) : bulk_part_bytes_(bulk_part_bytes) {}

  // Complete frames, ready to go; `payload`, when it is not empty, follows them. Small payloads are copied, others
  // lent.
  void AddFrames(const std::string& frames, const Payload* payload);
  // To be cut into parts.
  void AddBulk(BulkTensor tensor) { bulk_.push_back(std::move(tensor)); }
  // Takes what goes out as the next gRPC message: whole frames, at most a megabyte of them unless a single one is
  // larger. False when there is nothing.
  bool Next(grpc::ByteBuffer* out);
  void Clear();

 private:
  // Frames that leave together. Payloads are cut into the text at their positions.
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
  std::deque<Batch> batches_;
  std::deque<BulkTensor> bulk_;
  std::string spare_;  // the text of the last batch, for its memory
};

// The frames of one received gRPC message. Headers and payloads point into it: it must outlive them.
class FrameReader {
 public:
  explicit FrameReader(const grpc::ByteBuffer& message);

  // The next frame; false at the end of the message. InvalidArgument when the message is not made of whole frames.
  StatusOr<bool> Next(std::span<const std::byte>* header, Payload* payload);
  bool at_end() const { return remaining_ == 0; }

 private:
  // The next `count` bytes in one piece, copied to `scratch` when they lie in several. REQUIRES: that many remain.
  std::span<const std::byte> Take(size_t count, std::string* scratch);

  std::vector<grpc::Slice> slices_;
  size_t index_ = 0;   // of the slice that comes next
  size_t offset_ = 0;  // within it
  size_t remaining_ = 0;
  std::string prefix_scratch_, header_scratch_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_FRAMES_H_
