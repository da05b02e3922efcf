// Variant tensors as bytes: lists of tensors and optional values, which loops and branches may have on one task and
// their gradients on another.
#ifndef TENSORBRAID_CLUSTER_VARIANT_CODEC_H_
#define TENSORBRAID_CLUSTER_VARIANT_CODEC_H_

#include <string>
#include <string_view>

#include "tensorbraid/tensor.h"

namespace tensorbraid {

// InvalidArgument for values that have to stay where they are: datasets, resources, references to other memory.
StatusOr<std::string> EncodeVariants(const Tensor& tensor);
// InvalidArgument for bytes that do not encode a variant tensor of that shape. Memory follows the number of bytes.
StatusOr<Tensor> DecodeVariants(const Shape& shape, std::string_view bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_VARIANT_CODEC_H_
