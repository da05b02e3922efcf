// Everything that travels on a link: the messages of the cluster (messages.h), and the messages that the two ends of
// the link itself exchange.
#ifndef TENSORBRAID_TRANSPORT_LINK_MESSAGES_H_
#define TENSORBRAID_TRANSPORT_LINK_MESSAGES_H_

#include <cstdint>
#include <string>
#include <variant>

#include "transport/messages.h"

namespace tensorbraid {

// Measures the round trip of a link (grpc/grpc_link.h): each end answers the pings of the other at once.
struct Ping {
  uint32_t number = 0;
  bool is_answer = false;
};

// The total number of bytes of BulkTensors that the sender of this message has received on this link
// (grpc/bulk_window.h).
struct BulkAck {
  uint64_t received_bytes = 0;
};

// How the two ends of a link agree on a side lane; side_lane/lane_link.h has the protocol.
struct LaneMessage {
  enum class Kind : uint32_t {
    kNote = 1,      // `text` is for the LaneKind of the other end
    kReady = 2,     // from the accepting end: its lane is open, and the other end decides whether to switch
    kSwitched = 3,  // the last message over the base: the sender uses the lane from now on
    kGivenUp = 4,   // there will be no lane; `text` says why
  };
  Kind kind = Kind::kNote;
  std::string text = {};
  uint64_t bulk_tensors = 0;  // kSwitched: how many BulkTensors the sender has sent over the base
};

// Only the codec and the links know this type. A LinkHandler gets Messages.
using LinkMessage = std::variant<Message, LaneMessage, Ping, BulkAck>;

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_LINK_MESSAGES_H_
