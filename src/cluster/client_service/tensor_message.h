// Reads and writes tensors within the protobuf messages of clients.
#ifndef TENSORBRAID_CLUSTER_CLIENT_SERVICE_TENSOR_MESSAGE_H_
#define TENSORBRAID_CLUSTER_CLIENT_SERVICE_TENSOR_MESSAGE_H_

#include <string>

#include "graph/format/tensor_proto.h"
#include "transport/calls.h"

namespace tensorbraid {

// Appends `tensor` to `message` as field number `field`, a TensorProto. The message refers to the tensor's memory and
// keeps it alive.
void AppendTensor(int field, const Tensor& tensor, MessageParts* message);
// As AppendTensor, but the field is a NamedTensorProto.
void AppendNamedTensor(int field, const std::string& name, const Tensor& tensor, MessageParts* message);

// Appends a serialized message as field number `field`.
void AppendMessage(int field, std::string bytes, MessageParts* message);

// Parses a TensorProto. Its tensor_content is copied only once, into the tensor. InvalidArgument if it is invalid.
StatusOr<Tensor> ReadTensor(const Payload& bytes);
// Parses a NamedTensorProto and stores its name in `name`.
StatusOr<Tensor> ReadNamedTensor(const Payload& bytes, std::string* name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_CLIENT_SERVICE_TENSOR_MESSAGE_H_
