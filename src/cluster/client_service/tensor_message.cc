#include "cluster/client_service/tensor_message.h"

#include "cluster/protobuf/master_service.pb.h"
#include "cluster/protobuf/proto_io.h"
#include "core/text/strings.h"
#include "core/values/bools.h"
#include "graph/format/graph.pb.h"

namespace tensorbraid {
namespace {

constexpr int kLengthDelimited = 2;

void AppendVarint(uint64_t v, std::string* out) {
  while (v >= 0x80) {
    out->push_back(static_cast<char>(v | 0x80));
    v >>= 7;
  }
  out->push_back(static_cast<char>(v));
}

// Appends the tag and the length of a field with `bytes` bytes.
void AppendHeader(int field, size_t bytes, std::string* out) {
  AppendVarint(static_cast<uint64_t>(field) << 3 | kLengthDelimited, out);
  AppendVarint(bytes, out);
}

// A serialized TensorProto in two parts: everything up to the bytes of tensor_content, and these bytes.
struct Encoded {
  std::string head;
  Payload content;
  size_t size() const { return head.size() + content.size(); }
};

Encoded Encode(const Tensor& tensor) {
  Encoded encoded;
  proto::TensorProto proto;
  if (!tensor.is_valid() || !IsPlain(tensor.dtype())) {
    if (tensor.is_valid()) ToProto(tensor, &proto);
    encoded.head = proto.SerializeAsString();
    return encoded;
  }
  proto.set_dtype(static_cast<proto::DataType>(tensor.dtype()));
  ToProto(tensor.shape(), proto.mutable_tensor_shape());
  encoded.head = proto.SerializeAsString();
  if (tensor.num_bytes() == 0) return encoded;
  AppendHeader(proto::TensorProto::kTensorContentFieldNumber, tensor.num_bytes(), &encoded.head);
  encoded.content.owner = tensor.buffer();
  encoded.content.pieces.push_back({static_cast<const std::byte*>(tensor.raw_data()), tensor.num_bytes()});
  return encoded;
}

void Append(std::string head, Encoded encoded, MessageParts* message) {
  message->push_back(OwnedPayload(head + encoded.head));
  if (encoded.content.size() > 0) message->push_back(std::move(encoded.content));
}

}  // namespace

void AppendTensor(int field, const Tensor& tensor, MessageParts* message) {
  Encoded encoded = Encode(tensor);
  std::string head;
  AppendHeader(field, encoded.size(), &head);
  Append(std::move(head), std::move(encoded), message);
}

void AppendNamedTensor(int field, const std::string& name, const Tensor& tensor, MessageParts* message) {
  Encoded encoded = Encode(tensor);
  std::string inner;
  AppendHeader(/*field=*/1, name.size(), &inner);
  inner += name;
  AppendHeader(/*field=*/2, encoded.size(), &inner);
  std::string head;
  AppendHeader(field, inner.size() + encoded.size(), &head);
  Append(head + inner, std::move(encoded), message);
}

void AppendMessage(int field, std::string bytes, MessageParts* message) {
  std::string head;
  AppendHeader(field, bytes.size(), &head);
  message->push_back(OwnedPayload(std::move(head)));
  if (!bytes.empty()) message->push_back(OwnedPayload(std::move(bytes)));
}

StatusOr<Tensor> ReadTensor(const Payload& bytes) {
  std::string rest;
  TF_ASSIGN_OR_RETURN(const auto contents, TakeFields(bytes, proto::TensorProto::kTensorContentFieldNumber, &rest));
  proto::TensorProto proto;
  if (!proto.ParseFromString(rest)) return InvalidArgument("cannot parse a TensorProto");
  // If a singular field appears several times, the last one counts.
  if (contents.empty() || contents.back().size() == 0) return FromProto(proto);
  const Payload& content = contents.back();
  if (proto.dtype() == static_cast<int32_t>(kString)) {
    proto.mutable_tensor_content()->resize(content.size());
    content.CopyTo(proto.mutable_tensor_content()->data());
    return FromProto(proto);
  }
  TF_ASSIGN_OR_RETURN(Tensor tensor, AllocateFor(proto, content.size()));
  content.CopyTo(tensor.inplace_raw_data());
  NormalizeBools(&tensor);
  return tensor;
}

StatusOr<Tensor> ReadNamedTensor(const Payload& bytes, std::string* name) {
  std::string rest;
  TF_ASSIGN_OR_RETURN(const auto tensors, TakeFields(bytes, /*field=*/2, &rest));
  proto::NamedTensorProto named;
  if (!named.ParseFromString(rest)) return InvalidArgument("cannot parse a NamedTensorProto");
  *name = named.name();
  if (tensors.size() > 1) return InvalidArgument("expected a NamedTensorProto with one tensor, got ", tensors.size());
  auto tensor = ReadTensor(tensors.empty() ? Payload() : tensors[0]);
  if (!tensor.ok()) return Annotate(tensor.status(), StrCat("the value of '", *name, "'"));
  return tensor;
}

}  // namespace tensorbraid
