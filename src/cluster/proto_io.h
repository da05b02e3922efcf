// Messages of clients (protobuf) from and to the pieces that travel.
#ifndef TENSORBRAID_CLUSTER_PROTO_IO_H_
#define TENSORBRAID_CLUSTER_PROTO_IO_H_

#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/status.h"
#include "transport/calls.h"

namespace google::protobuf {
class MessageLite;
}

namespace tensorbraid {

// False when the bytes are no such message. Messages of 2 GiB and more are none.
bool ParseMessage(const Payload& bytes, google::protobuf::MessageLite* message);
// Takes the fields of this number, all of type bytes or message, out of a message: they come back in order, where they
// lie; the rest of the message goes to `rest`. Large values are so read without being copied first. InvalidArgument
// when the bytes are no message.
StatusOr<std::vector<Payload>> TakeFields(const Payload& message, int field, std::string* rest);
MessageParts SerializeMessage(const google::protobuf::MessageLite& message);

// Reads a call's request; fails the call, and gives false, when it cannot be read.
bool ReadRequest(const std::shared_ptr<Call>& call, google::protobuf::MessageLite* request);
// The same of a request whose fields of this number carry tensors: these stay where they are until the call is
// answered.
bool ReadRequestWithTensors(const std::shared_ptr<Call>& call, int field, google::protobuf::MessageLite* request,
                            std::vector<Payload>* tensors);
void AnswerCall(const std::shared_ptr<Call>& call, const google::protobuf::MessageLite& answer);

// TensorFlow's texts are UTF-8, which its clients check: other bytes become '?'.
std::string ToUtf8(std::string_view text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PROTO_IO_H_
