// Converts tensors and shapes from and to TensorFlow's TensorProto and TensorShapeProto.
#ifndef TENSORBRAID_GRAPH_FORMAT_TENSOR_PROTO_H_
#define TENSORBRAID_GRAPH_FORMAT_TENSOR_PROTO_H_

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

namespace proto {
class TensorProto;
class TensorShapeProto;
}  // namespace proto

// Writes elements to tensor_content, and strings to string_val. If a large tensor repeats one value
// (core/values/repeated_tensor.h), writes this value once.
void ToProto(const Tensor& tensor, proto::TensorProto* out);
void ToProto(const Shape& shape, proto::TensorShapeProto* out);
// Returns how many bytes larger the tensor is than its message, because the message repeats a value to fill the shape.
// 0 if the message has tensor_content, or its dtype or shape is not valid.
int64_t RepeatedBytes(const proto::TensorProto& proto);
// Limit on the repeated bytes of one tensor, and of all tensors of a GraphDef together. So a message of a few bytes can
// be a large constant, but not one of unlimited size.
inline constexpr int64_t kMaxRepeatedBytes = int64_t{1} << 32;
// Reads every encoding that TensorFlow writes: tensor_content, or typed values, where the last one is repeated.
// InvalidArgument if the message is malformed.
StatusOr<Tensor> FromProto(const proto::TensorProto& proto);
StatusOr<Shape> FromProto(const proto::TensorShapeProto& proto);
// Allocates a tensor with the dtype and shape of `proto`. The caller reads its `content_bytes` bytes of tensor_content
// separately (0: no content). InvalidArgument if that size does not match the dtype and shape.
StatusOr<Tensor> AllocateFor(const proto::TensorProto& proto, size_t content_bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FORMAT_TENSOR_PROTO_H_
