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

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TENSOR_MESSAGE_H_
