#include "kernels/cpu/image/floats.h"

#include <algorithm>

#include "kernels/cpu/elementwise.h"

namespace tensorbraid::cpu {
namespace {

template <typename T>
void WidenElements(const Tensor& t, float* out, int64_t begin, int64_t end) {
  const T* in = t.data<T>().data();
  if constexpr (kIsHalf<T>) {
    ToFloat(in + begin, out + begin, end - begin);
  } else {
    for (int64_t i = begin; i < end; ++i) out[i] = static_cast<float>(in[i]);
  }
}

void (*WidenFor(DType dtype))(const Tensor&, float*, int64_t, int64_t) {
  switch (dtype) {
    case DType::kInt8:
      return WidenElements<int8_t>;
    case DType::kUint8:
      return WidenElements<uint8_t>;
    case DType::kInt16:
      return WidenElements<int16_t>;
    case DType::kUint16:
      return WidenElements<uint16_t>;
    case DType::kInt32:
      return WidenElements<int32_t>;
    case DType::kInt64:
      return WidenElements<int64_t>;
    case DType::kBfloat16:
      return WidenElements<Bfloat16>;
    case DType::kFloat16:
      return WidenElements<Float16>;
    case DType::kFloat64:
      return WidenElements<double>;
    default:
      return nullptr;
  }
}

}  // namespace

StatusOr<Tensor> WidenToFloat(KernelContext& ctx, const Tensor& t) {
  if (t.dtype() == kFloat32) return t;
  const auto widen = WidenFor(t.dtype());
  if (widen == nullptr) return Unimplemented("images of type ", t.dtype(), " are not supported");
  TF_ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemp(kFloat32, t.shape()));
  float* out = wide.inplace_data<float>().data();
  Parallel(ctx, t.num_elements(), 0.3, [&](int64_t begin, int64_t end) { widen(t, out, begin, end); });
  return wide;
}

void NarrowFromFloat(const float* in, int64_t n, Tensor* out, int64_t begin) {
  switch (out->dtype()) {
    case DType::kFloat16:
      return FromFloat(in, out->inplace_data<Float16>().data() + begin, n);
    case DType::kBfloat16:
      return FromFloat(in, out->inplace_data<Bfloat16>().data() + begin, n);
    case DType::kFloat64:
      std::copy_n(in, n, out->inplace_data<double>().data() + begin);
      return;
    default:
      std::copy_n(in, n, out->inplace_data<float>().data() + begin);
  }
}

}  // namespace tensorbraid::cpu
