// The frames that travel through a UCX lane, and how a receiver puts them in order. Knows nothing of UCX.
#ifndef TENSORBRAID_TRANSPORT_UCX_UCX_FRAMES_H_
#define TENSORBRAID_TRANSPORT_UCX_UCX_FRAMES_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/messages.h"

namespace tensorbraid {

enum class UcxFrameKind : uint32_t {
  kProbe = 1,    // shows that the way is open; has no number
  kClosing = 2,  // the last frame of its sequence
  kWhole = 3,    // the data is a message's header, and then its payload
  kSplit = 4,    // a message's header follows the prefix, and the data is its payload
};

// The prefix of each frame. It is sent as it is in memory; all supported processors are little-endian.
struct UcxFramePrefix {
  uint64_t secret = 0;  // of the receiver
  uint64_t number = 0;  // within its sequence, from 0 on
  UcxFrameKind kind = UcxFrameKind::kProbe;
  uint32_t sequence = 0;      // 0: control messages, 1: BulkTensors
  uint64_t header_bytes = 0;  // of a message
};

// A frame that has arrived, or is arriving.
struct UcxFrame {
  UcxFrameKind kind = UcxFrameKind::kProbe;
  std::string header;       // of a message of kind kSplit
  size_t header_bytes = 0;  // of a message of kind kWhole, at the beginning of the data
  size_t size = 0;          // of the data
  RefPtr<Buffer> data;      // where the `size` bytes of data arrive; null before, and if there are none
  bool complete = false;    // all data has arrived

  // Checks and returns the message. If the data is only the payload (kSplit), the payload has an owner. Otherwise the
  // payload is valid as long as the frame exists.
  // REQUIRES: complete, and kind is kWhole or kSplit. Call once.
  StatusOr<Message> Decode();
};

// Puts the frames of one peer in order. They may overtake each other. Not thread-safe.
class UcxInbox {
 public:
  static constexpr int kSequences = 2;

  // Frames that do not name `secret` are dropped.
  explicit UcxInbox(uint64_t secret) : secret_(secret) {}

  // Takes a frame with `size` bytes of data. The caller receives the bytes into the result's `data`, and then sets
  // `complete`. Null if the data is not needed. The frame lives until TakeComplete returns it. InvalidArgument if the
  // peer breaks the rules.
  StatusOr<UcxFrame*> Add(std::string_view header, size_t size);
  // Removes the frames that are complete and whose predecessors are, in order.
  std::vector<std::unique_ptr<UcxFrame>> TakeComplete();
  bool probed() const { return probed_; }

 private:
  // frames[i] has the number next + i. It is null if the frame has not arrived, but a later one has.
  struct Sequence {
    uint64_t next = 0;
    std::deque<std::unique_ptr<UcxFrame>> frames;
  };

  const uint64_t secret_;
  bool probed_ = false;
  Sequence sequences_[kSequences];
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_UCX_UCX_FRAMES_H_
