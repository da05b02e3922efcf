#include "cluster/exchange/tensor_codec.h"

#include <cstring>
#include <vector>

#include "core/memory/allocator.h"
#include "core/text/strings.h"
#include "core/values/bools.h"
#include "core/values/joined_tensors.h"
#include "runtime/dataset/variant_codec.h"

namespace tensorbraid {
namespace {

const JoinedTensors* JoinedIn(const Tensor& tensor) {
  if (tensor.dtype() != DType::kVariant || tensor.shape().rank() != 0) return nullptr;
  return dynamic_cast<const JoinedTensors*>(tensor.data<Variant>()[0].value.get());
}

bool IsJoined(const TensorMeta& meta, const Payload& payload) {
  if (meta.shape.rank() != 0 || payload.size() < sizeof(uint64_t)) return false;
  std::byte begin[sizeof(uint64_t)];  // may be in several pieces
  payload.Part(0, sizeof begin).CopyTo(begin);
  return JoinedTensors::Begins(begin);
}

// Decodes joined tensors, which use the payload's memory if it has an owner.
StatusOr<Tensor> DecodeJoined(const Payload& payload) {
  JoinedBytes bytes{.owner = payload.owner, .pieces = {payload.pieces.begin(), payload.pieces.end()}};
  if (!bytes.owner) {
    bytes.owner = AllocateBuffer(payload.size());
    if (!bytes.owner) return ResourceExhausted("out of memory receiving ", payload.size(), " bytes");
    payload.CopyTo(bytes.owner->data());
    bytes.pieces = {{static_cast<const std::byte*>(bytes.owner->data()), payload.size()}};
  }
  TF_ASSIGN_OR_RETURN(auto joined, JoinedTensors::Decode(std::move(bytes)));
  return MakeVariantTensor(std::move(joined));
}

}  // namespace

Status EncodeTensor(const Tensor& tensor, TensorMeta* meta, Payload* payload) {
  meta->dtype = tensor.dtype();
  meta->shape = tensor.shape();
  meta->dead = false;
  if (IsPlain(tensor.dtype())) {
    meta->bytes = tensor.num_bytes();
    payload->owner = tensor.buffer();
    payload->pieces = {{static_cast<const std::byte*>(tensor.raw_data()), tensor.num_bytes()}};
    return OkStatus();
  }
  if (const JoinedTensors* joined = JoinedIn(tensor)) {
    TF_ASSIGN_OR_RETURN(JoinedBytes bytes, joined->Encode());
    payload->owner = std::move(bytes.owner);
    payload->pieces.assign(bytes.pieces.begin(), bytes.pieces.end());
    meta->bytes = payload->size();
    return OkStatus();
  }
  if (tensor.dtype() == DType::kVariant) {
    TF_ASSIGN_OR_RETURN(const std::string bytes, EncodeVariants(tensor));
    RefPtr<Buffer> buffer = AllocateBuffer(bytes.size());
    if (!buffer) return ResourceExhausted("out of memory sending ", bytes.size(), " bytes of variants");
    if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
    meta->bytes = bytes.size();
    payload->pieces = {{static_cast<const std::byte*>(buffer->data()), bytes.size()}};
    payload->owner = std::move(buffer);
    return OkStatus();
  }
  if (tensor.dtype() != kString) {
    return InvalidArgument("a ", tensor.dtype(), " tensor cannot be sent to another task");
  }
  const auto strings = tensor.data<std::string>();
  size_t size = strings.size() * sizeof(uint64_t);
  for (const std::string& s : strings) size += s.size();
  RefPtr<Buffer> buffer = AllocateBuffer(size);
  if (!buffer) return ResourceExhausted("out of memory sending ", size, " bytes of strings");
  auto* out = static_cast<char*>(buffer->data());
  for (const std::string& s : strings) {
    const uint64_t length = s.size();
    std::memcpy(out, &length, sizeof length);
    out += sizeof length;
  }
  for (const std::string& s : strings) {
    if (!s.empty()) std::memcpy(out, s.data(), s.size());
    out += s.size();
  }
  meta->bytes = size;
  payload->pieces = {{static_cast<const std::byte*>(buffer->data()), size}};
  payload->owner = std::move(buffer);
  return OkStatus();
}

Status CheckMeta(const TensorMeta& meta) {
  if (meta.dead) return meta.bytes == 0 ? OkStatus() : InvalidArgument("a dead tensor cannot have bytes");
  const int64_t n = meta.shape.is_fully_defined() ? meta.shape.num_elements() : -1;
  if (n < 0) return InvalidArgument("a tensor of shape ", meta.shape, " cannot be received");
  if (IsPlain(meta.dtype)) {
    uint64_t bytes;
    if (__builtin_mul_overflow(static_cast<uint64_t>(n), DTypeSize(meta.dtype), &bytes) || bytes != meta.bytes) {
      return InvalidArgument("a ", meta.dtype, meta.shape, " tensor cannot have ", meta.bytes, " bytes");
    }
    return OkStatus();
  }
  if (meta.dtype == DType::kVariant && meta.bytes >= static_cast<uint64_t>(n)) return OkStatus();
  if (meta.dtype != kString || meta.bytes / sizeof(uint64_t) < static_cast<uint64_t>(n)) {
    return InvalidArgument("a ", meta.dtype, meta.shape, " tensor cannot have ", meta.bytes, " bytes");
  }
  return OkStatus();
}

namespace {

// Whether the tensor can use the payload's memory. Memory that is not writable here belongs to another process of this
// machine. If that process is faulty, it may still change the memory, so only floating-point elements may stay there:
// all their bit patterns are valid.
bool CanAdopt(const TensorMeta& meta, const Payload& payload) {
  if (!payload.owner || payload.pieces.size() != 1) return false;
  const bool may_change = !payload.owner->writable();
  return (IsFloating(meta.dtype) || (!may_change && IsPlain(meta.dtype) && meta.dtype != kBool)) &&
         reinterpret_cast<uintptr_t>(payload.pieces[0].data()) % kTensorAlignment == 0;
}

}  // namespace

StatusOr<Tensor> DecodeTensor(const TensorMeta& meta, const Payload& payload) {
  TF_RETURN_IF_ERROR(CheckMeta(meta));
  if (payload.size() != meta.bytes) {
    return InvalidArgument("received ", payload.size(), " bytes for a tensor of ", meta.bytes, " bytes");
  }
  if (meta.dead) return Tensor();
  if (meta.dtype == DType::kVariant) {
    if (IsJoined(meta, payload)) return DecodeJoined(payload);
    std::string bytes(payload.size(), '\0');
    payload.CopyTo(bytes.data());
    return DecodeVariants(meta.shape, bytes);
  }
  if (CanAdopt(meta, payload)) {
    const auto* begin = static_cast<const std::byte*>(payload.owner->data());
    return Tensor::FromBuffer(payload.owner, payload.pieces[0].data() - begin, meta.dtype, meta.shape);
  }
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(meta.dtype, meta.shape));
  if (IsPlain(meta.dtype)) {
    payload.CopyTo(tensor.inplace_raw_data());
    NormalizeBools(&tensor);
    return tensor;
  }
  std::vector<char> bytes(payload.size());
  payload.CopyTo(bytes.data());
  auto strings = tensor.inplace_data<std::string>();
  size_t at = strings.size() * sizeof(uint64_t);
  for (size_t i = 0; i < strings.size(); ++i) {
    uint64_t length;
    std::memcpy(&length, bytes.data() + i * sizeof length, sizeof length);
    if (length > bytes.size() - at) return InvalidArgument("a string tensor's lengths exceed its bytes");
    strings[i].assign(bytes.data() + at, length);
    at += length;
  }
  if (at != bytes.size()) return InvalidArgument("a string tensor has bytes left over");
  return tensor;
}

}  // namespace tensorbraid
