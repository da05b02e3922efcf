// Reads and writes the protobuf messages of clients as payloads.
#ifndef TENSORBRAID_CLUSTER_PROTOBUF_PROTO_IO_H_
#define TENSORBRAID_CLUSTER_PROTOBUF_PROTO_IO_H_

#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/status.h"
#include "transport/calls.h"

namespace google::protobuf {
class MessageLite;
}

namespace tensorbraid {

// Parses the bytes. Returns false if they are not a message of this type, or if they are 2 GiB or more.
bool ParseMessage(const Payload& bytes, google::protobuf::MessageLite* message);
// Splits a message: returns the fields with number `field`, which must have type bytes or message, in order and as
// views of `message`, and writes the other fields to `rest`. Large values can then be read without an extra copy.
// InvalidArgument if the bytes are not a message.
StatusOr<std::vector<Payload>> TakeFields(const Payload& message, int field, std::string* rest);
MessageParts SerializeMessage(const google::protobuf::MessageLite& message);

// Parses a call's request. If that fails, fails the call and returns false.
bool ReadRequest(const std::shared_ptr<Call>& call, google::protobuf::MessageLite* request);
// As ReadRequest, for a request whose fields with number `field` carry tensors. These are returned in `tensors`, as
// views of the request that are valid until the call is answered.
bool ReadRequestWithTensors(const std::shared_ptr<Call>& call, int field, google::protobuf::MessageLite* request,
                            std::vector<Payload>* tensors);
void AnswerCall(const std::shared_ptr<Call>& call, const google::protobuf::MessageLite& answer);

// Replaces bytes that are not UTF-8 by '?', since TensorFlow's clients accept only UTF-8 in strings.
std::string ToUtf8(std::string_view text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PROTOBUF_PROTO_IO_H_
