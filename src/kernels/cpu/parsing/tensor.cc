// Converts tensors to strings (serialized TensorProtos) and back.
#include <google/protobuf/util/json_util.h>

#include <limits>

#include "core/text/op_type_name.h"
#include "core/text/strings.h"
#include "core/values/bools.h"
#include "graph/format/graph.pb.h"
#include "graph/format/tensor_proto.h"
#include "io/example.pb.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/string/string.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Status ParseTensor(KernelContext& ctx) {
  const Tensor& serialized = ctx.input(0);
  if (serialized.shape().rank() != 0) {
    return InvalidArgument("Expected `serialized` to be a scalar, got shape: ", serialized.shape());
  }
  const std::string* bytes = &serialized.data<std::string>()[0];
  proto::TensorProto message;
  if (bytes->size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !message.ParseFromArray(bytes->data(), static_cast<int>(bytes->size()))) {
    return InvalidArgument("Could not parse `serialized` as TensorProto: '", bytes->substr(0, 100), "'");
  }
  TF_ASSIGN_OR_RETURN(Tensor tensor, FromProto(message));
  if (tensor.dtype() != ctx.node().output_type(0)) {
    return InvalidArgument("Type mismatch between parsed tensor (", OpTypeName(tensor.dtype()), ") and dtype (",
                           OpTypeName(ctx.node().output_type(0)), ")");
  }
  ctx.set_output(0, std::move(tensor));
  return OkStatus();
}

Status SerializeTensor(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  if (!IsPlain(in.dtype()) && in.dtype() != kString) {
    return Unimplemented("a tensor of dtype ", in.dtype(), " cannot be serialized");
  }
  proto::TensorProto message;
  ToProto(in, &message);
  if (message.ByteSizeLong() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return InvalidArgument("a tensor of ", message.ByteSizeLong(), " bytes is too large for a TensorProto");
  }
  ctx.set_output(0, Tensor::Scalar(message.SerializeAsString()));
  return OkStatus();
}

}  // namespace

void RegisterParsingTensorKernels(KernelRegistry& r) {
  r.Add("ParseTensor", {}, ParseTensor);
  r.Add("SerializeTensor", {}, SerializeTensor);
}

}  // namespace tensorbraid::cpu
