// Bytes to tensors and back.
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/bools.h"
#include "core/op_type_name.h"
#include "core/strings.h"
#include "graph/graph.pb.h"
#include "graph/tensor_proto.h"
#include "io/example.pb.h"
#include "io/inflate.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/parsing.h"
#include "kernels/cpu/strings.h"

namespace tensorbraid::cpu {
namespace {

// Bytes of one number: half of a complex one.
size_t NumberBytes(DType t) { return IsComplex(t) ? DTypeSize(t) / 2 : DTypeSize(t); }

void SwapBytes(char* data, size_t size, size_t number) {
  for (size_t i = 0; i + number <= size; i += number) std::reverse(data + i, data + i + number);
}

// `in`'s shape with `width` more elements for each string; nothing for no strings.
Shape WithWidth(const Shape& in, int64_t width) {
  Shape shape = in;
  shape.AddDim(width);
  return shape;
}

Status DecodeRaw(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const DType dtype = ctx.node().output_type(0);
  const auto strings = in.data<std::string>();
  const size_t size = strings.empty() ? 0 : strings[0].size();
  for (size_t i = 0; i < strings.size(); ++i) {
    if (strings[i].size() != size) {
      return InvalidArgument("DecodeRaw requires input strings to all be the same size, but element ", i, " has size ",
                             size, " != ", strings[i].size());
    }
  }
  if (size % DTypeSize(dtype) != 0) {
    return InvalidArgument("Input to DecodeRaw has length ", size, " that is not a multiple of ", DTypeSize(dtype),
                           ", the size of ", OpTypeName(dtype));
  }
  TF_ASSIGN_OR_RETURN(Tensor * out,
                      ctx.AllocateOutput(0, WithWidth(in.shape(), static_cast<int64_t>(size / DTypeSize(dtype)))));
  auto* to = static_cast<char*>(out->mutable_raw_data());
  for (const std::string& s : strings) {
    if (size > 0) std::memcpy(to, s.data(), size);
    to += size;
  }
  const bool little = ctx.node().attr<bool>("little_endian");
  if (!little) SwapBytes(static_cast<char*>(out->mutable_raw_data()), out->num_bytes(), NumberBytes(dtype));
  NormalizeBools(out);
  return OkStatus();
}

Status DecodePaddedRaw(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const DType dtype = ctx.node().output_type(0);
  if (ctx.input(1).shape().rank() != 0) {
    return InvalidArgument("fixed_length must be a scalar, got shape ", ctx.input(1).shape());
  }
  const int64_t length = ctx.input(1).data<int32_t>()[0];
  const auto number = static_cast<int64_t>(DTypeSize(dtype));
  if (length <= 0 || length % number != 0) {
    return InvalidArgument("fixed_length must be a positive multiple of ", number, " for ", dtype, ", got ", length);
  }
  // Nothing is taken for nothing, however wide.
  const int64_t width = in.num_elements() == 0 ? 0 : length / number;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, WithWidth(in.shape(), width)));
  auto* to = static_cast<char*>(out->mutable_raw_data());
  if (out->num_bytes() > 0) std::memset(to, 0, out->num_bytes());
  for (const std::string& s : in.data<std::string>()) {
    std::memcpy(to, s.data(), std::min(s.size(), static_cast<size_t>(length)));
    to += length;
  }
  const bool little = ctx.node().attr<bool>("little_endian");
  if (!little) SwapBytes(static_cast<char*>(out->mutable_raw_data()), out->num_bytes(), NumberBytes(dtype));
  return OkStatus();
}

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
    return Unimplemented("a tensor of ", in.dtype(), " cannot be serialized");
  }
  proto::TensorProto message;
  ToProto(in, &message);
  if (message.ByteSizeLong() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return InvalidArgument("a tensor of ", message.ByteSizeLong(), " bytes is too large for a TensorProto");
  }
  ctx.set_output(0, Tensor::Scalar(message.SerializeAsString()));
  return OkStatus();
}

Status DecodeCompressed(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Compression compression,
                      CompressionFromName(ctx.node().attr<std::string>("compression_type")));
  return MapStrings<std::string>(
      ctx, [compression](const std::string& s) { return Inflate(s, compression, kMaxStringBytes); });
}

Status DecodeJsonExample(KernelContext& ctx) {
  return MapStrings<std::string>(ctx, [](const std::string& s) -> StatusOr<std::string> {
    proto::Example example;
    const auto status = google::protobuf::util::JsonStringToMessage(s, &example);
    if (!status.ok()) {
      return InvalidArgument("Error while parsing JSON: ",
                             std::string(status.message().data(), status.message().size()));
    }
    return example.SerializeAsString();
  });
}

}  // namespace

void RegisterDecodeKernels(KernelRegistry& r) {
  r.Add("DecodeRaw", {}, DecodeRaw);
  r.Add("DecodePaddedRaw", {}, DecodePaddedRaw);
  r.Add("ParseTensor", {}, ParseTensor);
  r.Add("SerializeTensor", {}, SerializeTensor);
  r.Add("DecodeCompressed", {}, DecodeCompressed, KernelCost::kExpensive);
  r.Add("DecodeJSONExample", {}, DecodeJsonExample);
}

}  // namespace tensorbraid::cpu
