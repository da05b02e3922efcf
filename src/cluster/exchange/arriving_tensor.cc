#include "cluster/exchange/arriving_tensor.h"

#include <utility>

#include "cluster/exchange/tensor_codec.h"
#include "core/memory/allocator.h"
#include "core/text/strings.h"
#include "core/values/bools.h"

namespace tensorbraid {

StatusOr<ArrivingTensor> ArrivingTensor::Create(const TensorMeta& meta) {
  if (meta.dead) return InvalidArgument("received a dead tensor in parts");
  TF_RETURN_IF_ERROR(CheckMeta(meta));
  ArrivingTensor arriving;
  arriving.meta_ = meta;
  if (IsPlain(meta.dtype)) {
    TF_ASSIGN_OR_RETURN(arriving.tensor_, Tensor::Create(meta.dtype, meta.shape));
  } else {
    arriving.raw_ = AllocateBuffer(meta.bytes);
    if (!arriving.raw_) return ResourceExhausted("out of memory receiving ", meta.bytes, " bytes");
  }
  return arriving;
}

Status ArrivingTensor::Add(uint64_t offset, const Payload& part) {
  if (offset != received_ || part.size() > meta_.bytes - received_) {
    return InvalidArgument("received ", part.size(), " bytes of a tensor at offset ", offset, ", expected offset ",
                           received_, " and at most ", meta_.bytes - received_, " bytes");
  }
  void* const memory = raw_ ? raw_->data() : tensor_.inplace_raw_data();
  part.CopyTo(static_cast<char*>(memory) + received_);
  received_ += part.size();
  return OkStatus();
}

StatusOr<Tensor> ArrivingTensor::Take() {
  if (!raw_) {
    NormalizeBools(&tensor_);
    return std::move(tensor_);
  }
  Payload whole;
  whole.pieces = {{static_cast<const std::byte*>(raw_->data()), raw_->size()}};
  whole.owner = raw_;
  auto tensor = DecodeTensor(meta_, whole);
  raw_.reset();
  return tensor;
}

}  // namespace tensorbraid
