#include "runtime/variables/tensor_rows.h"

#include <algorithm>
#include <cstring>

#include "core/text/logging.h"
#include "core/values/resource_handle.h"
#include "core/values/variant.h"

namespace tensorbraid {
namespace {

template <typename T>
void CopyObjects(const Tensor& from, int64_t from_begin, int64_t n, Tensor* to, int64_t to_begin) {
  std::copy_n(from.data<T>().begin() + from_begin, n, to->inplace_data<T>().begin() + to_begin);
}

}  // namespace

void CopyElementRange(const Tensor& from, int64_t from_begin, int64_t n, Tensor* to, int64_t to_begin) {
  TB_CHECK(from.dtype() == to->dtype());
  if (n == 0) return;
  if (from.dtype() == kString) return CopyObjects<std::string>(from, from_begin, n, to, to_begin);
  if (from.dtype() == DType::kResource) return CopyObjects<ResourceHandle>(from, from_begin, n, to, to_begin);
  if (from.dtype() == DType::kVariant) return CopyObjects<Variant>(from, from_begin, n, to, to_begin);
  const size_t size = DTypeSize(from.dtype());
  std::memcpy(static_cast<char*>(to->inplace_raw_data()) + static_cast<size_t>(to_begin) * size,
              static_cast<const char*>(from.raw_data()) + static_cast<size_t>(from_begin) * size,
              static_cast<size_t>(n) * size);
}

StatusOr<Tensor> CopyOf(const Tensor& tensor) {
  TF_ASSIGN_OR_RETURN(Tensor copy, Tensor::Create(tensor.dtype(), tensor.shape()));
  CopyElementRange(tensor, 0, tensor.num_elements(), &copy, 0);
  return copy;
}

StatusOr<Tensor> CopyOfRow(const Tensor& batch, int64_t i) {
  TF_ASSIGN_OR_RETURN(Tensor row, Tensor::Create(batch.dtype(), Shape(batch.shape().dims().subspan(1))));
  CopyElementRange(batch, i * row.num_elements(), row.num_elements(), &row, 0);
  return row;
}

StatusOr<Tensor> ZeroTensor(DType dtype, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(Tensor zero, Tensor::Create(dtype, shape));
  if (IsPlain(dtype) && zero.num_bytes() > 0) std::memset(zero.inplace_raw_data(), 0, zero.num_bytes());
  return zero;
}

}  // namespace tensorbraid
