// Converts messages to bytes and back. A packet is: header length (u32), payload length (u64), both little-endian,
// header, payload. The header is one message of wire.proto. The payload is the tensor's bytes unchanged, so the codec
// never copies it.
//
// All functions are thread-safe. Input is not trusted: malformed bytes are InvalidArgument.
#ifndef TENSORBRAID_TRANSPORT_CODEC_H_
#define TENSORBRAID_TRANSPORT_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tensorbraid/core/status.h"
#include "transport/link_messages.h"

namespace tensorbraid {

inline constexpr size_t kPacketPrefixBytes = 12;
// The most that protobuf can parse.
inline constexpr uint32_t kMaxHeaderBytes = (1u << 31) - 1;
inline constexpr uint64_t kMaxTensorBytes = uint64_t{1} << 48;

struct PacketPrefix {
  uint32_t header_bytes = 0;
  uint64_t payload_bytes = 0;
};
// `in` has kPacketPrefixBytes bytes. InvalidArgument for lengths beyond kMaxHeaderBytes or kMaxTensorBytes.
StatusOr<PacketPrefix> ReadPacketPrefix(const void* in);

// The payload of a message that carries one, else null.
const Payload* PayloadOf(const Message& message);

// Appends prefix and header; the caller must send the payload after them. If the header is too large to be sent,
// returns InvalidArgument and leaves `out` unchanged.
Status AppendPacket(const Message& message, std::string* out);
void AppendPacket(const LaneMessage& message, std::string* out);
void AppendPacket(const Ping& message, std::string* out);
void AppendPacket(const BulkAck& message, std::string* out);
// Checks everything that can be checked by looking at one packet: sizes, dtype, shape, and that the payload fits the
// tensor. The caller has to check that step, edge and session exist. The message takes ownership of `payload`.
StatusOr<LinkMessage> DecodeLinkMessage(std::span<const std::byte> header, Payload payload);
// As DecodeLinkMessage, for a side lane: it carries only messages of the cluster, so any other message is
// InvalidArgument.
StatusOr<Message> DecodeMessage(std::span<const std::byte> header, Payload payload);

// The first packet on each channel of a link whose channels are separate streams.
struct Handshake {
  uint64_t link_id = 0;  // random; the same on all channels of the link
  uint32_t channel = 0;
  Hello hello;
};
struct HandshakeAnswer {
  Status status;
  Hello hello;
};
void AppendPacket(const Handshake& handshake, std::string* out);
void AppendPacket(const HandshakeAnswer& answer, std::string* out);
StatusOr<Handshake> DecodeHandshake(std::span<const std::byte> header);
StatusOr<HandshakeAnswer> DecodeHandshakeAnswer(std::span<const std::byte> header);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_CODEC_H_
