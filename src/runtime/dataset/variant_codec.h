// Encodes variant tensors (lists of tensors, optional values, tensors, ragged tensors) as bytes. Variants are sent
// between tasks when, for example, a loop or branch runs on one task and its gradient on another. They are also saved
// with the states of iterators.
#ifndef TENSORBRAID_RUNTIME_DATASET_VARIANT_CODEC_H_
#define TENSORBRAID_RUNTIME_DATASET_VARIANT_CODEC_H_

#include <string>
#include <string_view>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// InvalidArgument for values that cannot leave their task, such as datasets and resources.
StatusOr<std::string> EncodeVariants(const Tensor& tensor);
// InvalidArgument if the bytes do not encode a variant tensor of this shape. Allocates memory in proportion to the
// number of bytes, whatever sizes they claim.
StatusOr<Tensor> DecodeVariants(const Shape& shape, std::string_view bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_DATASET_VARIANT_CODEC_H_
