// A tensor whose bytes arrive in parts.
#ifndef TENSORBRAID_CLUSTER_EXCHANGE_ARRIVING_TENSOR_H_
#define TENSORBRAID_CLUSTER_EXCHANGE_ARRIVING_TENSOR_H_

#include <cstdint>

#include "tensorbraid/core/buffer.h"
#include "tensorbraid/core/tensor.h"
#include "transport/messages.h"

namespace tensorbraid {

// Plain dtypes arrive in the tensor's own memory; the others arrive in a buffer and are decoded when complete.
// Not thread-safe: one thread adds the parts, in order.
class ArrivingTensor {
 public:
  // Allocates memory for the tensor. InvalidArgument if `meta` is impossible or describes a dead tensor (the output of
  // a branch that was not taken), ResourceExhausted if there is not enough memory.
  static StatusOr<ArrivingTensor> Create(const TensorMeta& meta);

  // Copies a part to its place. InvalidArgument unless the part begins where the previous one ended, and fits into the
  // tensor.
  Status Add(uint64_t offset, const Payload& part);
  bool complete() const { return received_ == meta_.bytes; }
  // InvalidArgument if the bytes are not an encoding of the tensor. REQUIRES: complete(). Call once.
  StatusOr<Tensor> Take();

 private:
  ArrivingTensor() = default;

  TensorMeta meta_;
  Tensor tensor_;       // of a plain dtype
  RefPtr<Buffer> raw_;  // of any other dtype: the encoded bytes
  uint64_t received_ = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_EXCHANGE_ARRIVING_TENSOR_H_
