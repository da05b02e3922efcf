// Tensors as the bytes of a message.
#ifndef TENSORBRAID_CLUSTER_TENSOR_CODEC_H_
#define TENSORBRAID_CLUSTER_TENSOR_CODEC_H_

#include "tensorbraid/tensor.h"
#include "transport/messages.h"

namespace tensorbraid {

// Describes `tensor` and lends its memory to `payload`, which keeps the buffer alive. Strings are written anew: each as
// its length (8 bytes, little endian), then all bytes. InvalidArgument for dtypes that cannot leave their task.
Status EncodeTensor(const Tensor& tensor, TensorMeta* meta, Payload* payload);

// Whether meta.bytes is possible for its dtype and shape. InvalidArgument otherwise.
Status CheckMeta(const TensorMeta& meta);

// Makes the tensor from its bytes; one that is not valid where `meta` says that it is dead. InvalidArgument when they
// do not fit what `meta` says.
StatusOr<Tensor> DecodeTensor(const TensorMeta& meta, const Payload& payload);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TENSOR_CODEC_H_
