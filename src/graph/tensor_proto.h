// Tensors in TensorFlow's TensorProto.
#ifndef TENSORBRAID_GRAPH_TENSOR_PROTO_H_
#define TENSORBRAID_GRAPH_TENSOR_PROTO_H_

#include "tensorbraid/tensor.h"

namespace tensorbraid {

namespace proto {
class TensorProto;
class TensorShapeProto;
}  // namespace proto

// Elements go to tensor_content, strings to string_val.
void ToProto(const Tensor& tensor, proto::TensorProto* out);
void ToProto(const Shape& shape, proto::TensorShapeProto* out);
// Every encoding that TensorFlow writes: tensor_content, or typed values of which the last is repeated.
// InvalidArgument for what is none.
// The bytes of the tensor that the message stands for without having them: of a value that is repeated. 0 for messages
// that FromProto refuses.
int64_t RepeatedBytes(const proto::TensorProto& proto);
// Of all tensors of a graph together: a message of a few bytes may stand for a large constant, not for any size at all.
inline constexpr int64_t kMaxRepeatedBytes = int64_t{1} << 32;
StatusOr<Tensor> FromProto(const proto::TensorProto& proto);
StatusOr<Shape> FromProto(const proto::TensorShapeProto& proto);
// A tensor of the dtype and shape that `proto` names, for `content_bytes` bytes of tensor_content that are read
// elsewhere (0: there are none). InvalidArgument when they cannot be its content.
StatusOr<Tensor> AllocateFor(const proto::TensorProto& proto, size_t content_bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_TENSOR_PROTO_H_
