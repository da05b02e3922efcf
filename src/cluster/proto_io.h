// Messages of clients (protobuf) from and to the pieces that travel.
#ifndef TENSORBRAID_CLUSTER_PROTO_IO_H_
#define TENSORBRAID_CLUSTER_PROTO_IO_H_

#include "transport/calls.h"

namespace google::protobuf {
class MessageLite;
}

namespace tensorbraid {

// False when the bytes are no such message. Messages of 2 GiB and more are none.
bool ParseMessage(const Payload& bytes, google::protobuf::MessageLite* message);
MessageParts SerializeMessage(const google::protobuf::MessageLite& message);

// TensorFlow's texts are UTF-8, which its clients check: other bytes become '?'.
std::string ToUtf8(std::string_view text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PROTO_IO_H_
