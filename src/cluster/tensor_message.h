// Tensors within the messages of clients.
#ifndef TENSORBRAID_CLUSTER_TENSOR_MESSAGE_H_
#define TENSORBRAID_CLUSTER_TENSOR_MESSAGE_H_

#include <string>

#include "graph/tensor_proto.h"
#include "transport/calls.h"

namespace tensorbraid {

// Appends `tensor` as field number `field`, a TensorProto, of the message that is being written. Its memory is lent.
void AppendTensor(int field, const Tensor& tensor, MessageParts* message);
// The same within a NamedTensorProto.
void AppendNamedTensor(int field, const std::string& name, const Tensor& tensor, MessageParts* message);

// Appends a message that is already written, as field number `field`.
void AppendMessage(int field, std::string bytes, MessageParts* message);

// Reads a TensorProto: its tensor_content is copied once, into the tensor. InvalidArgument for what is none.
StatusOr<Tensor> ReadTensor(const Payload& bytes);
// The same of a NamedTensorProto, whose name goes to `name`.
StatusOr<Tensor> ReadNamedTensor(const Payload& bytes, std::string* name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TENSOR_MESSAGE_H_
