// Encodes tensors as bytes of a message, and decodes them.
#ifndef TENSORBRAID_CLUSTER_EXCHANGE_TENSOR_CODEC_H_
#define TENSORBRAID_CLUSTER_EXCHANGE_TENSOR_CODEC_H_

#include "tensorbraid/core/tensor.h"
#include "transport/messages.h"

namespace tensorbraid {

// Describes `tensor` in `meta` and refers to its memory in `payload`, which keeps the buffer alive. Strings are copied:
// first all lengths (8 bytes each, little endian), then all bytes. Variants are encoded by EncodeVariants
// (runtime/dataset/variant_codec.h), joined tensors by JoinedTensors::Encode. InvalidArgument for dtypes that cannot
// leave their task.
Status EncodeTensor(const Tensor& tensor, TensorMeta* meta, Payload* payload);

// InvalidArgument unless meta.bytes is possible for the dtype and the shape.
Status CheckMeta(const TensorMeta& meta);

// Decodes a tensor from its bytes. If the payload has an owner and the dtype allows it, the tensor, or each of the
// joined ones, uses the payload's memory instead of a copy. For a dead tensor (the output of a branch that was not
// taken), returns a Tensor that is not valid. InvalidArgument if the bytes do not match `meta`.
StatusOr<Tensor> DecodeTensor(const TensorMeta& meta, const Payload& payload);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_EXCHANGE_TENSOR_CODEC_H_
