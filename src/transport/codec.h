// Messages as bytes. A frame is: header length (u32), payload length (u64), both little-endian, header, payload. The
// header is one message of wire.proto; the payload is the tensor's bytes as they lie, so that it is never copied here.
//
// All functions are thread-safe. What is decoded may come from anybody: bad input is InvalidArgument.
#ifndef TENSORBRAID_TRANSPORT_CODEC_H_
#define TENSORBRAID_TRANSPORT_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tensorbraid/status.h"
#include "transport/messages.h"

namespace tensorbraid {

inline constexpr size_t kFramePrefixBytes = 12;
// What protobuf can parse: a graph with its constants may be as large.
inline constexpr uint32_t kMaxHeaderBytes = (1u << 31) - 1;
inline constexpr uint64_t kMaxTensorBytes = uint64_t{1} << 48;

struct FramePrefix {
  uint32_t header_bytes = 0;
  uint64_t payload_bytes = 0;
};
// `in` has kFramePrefixBytes bytes. InvalidArgument for lengths that no frame has.
StatusOr<FramePrefix> ReadFramePrefix(const void* in);

// The payload of a message that carries one, else null.
const Payload* PayloadOf(const Message& message);

// Appends prefix and header; the payload must follow. InvalidArgument, with `out` unchanged, when the header is too
// large to be sent.
Status AppendFrame(const Message& message, std::string* out);
// Checks everything that can be known from one frame: sizes, dtype, shape, that the payload fits the tensor. Whether
// step, edge and session exist is for the caller. The message takes over `payload`.
StatusOr<Message> DecodeMessage(std::span<const std::byte> header, Payload payload);

// What opens a lane of a link that consists of separate streams.
struct Handshake {
  uint64_t link_id = 0;  // random; the same on all lanes of the link
  uint32_t lane = 0;
  Hello hello;
};
struct HandshakeAnswer {
  Status status;
  Hello hello;
};
void AppendFrame(const Handshake& handshake, std::string* out);
void AppendFrame(const HandshakeAnswer& answer, std::string* out);
StatusOr<Handshake> DecodeHandshake(std::span<const std::byte> header);
StatusOr<HandshakeAnswer> DecodeHandshakeAnswer(std::span<const std::byte> header);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_CODEC_H_
