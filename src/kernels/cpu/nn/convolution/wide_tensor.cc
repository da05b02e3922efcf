#include "kernels/cpu/nn/convolution/wide_tensor.h"

#include "kernels/cpu/half.h"

namespace tensorbraid::cpu {
namespace {

constexpr uint64_t kHighBit = uint64_t{1} << 63;

template <typename T>
void WidenIntegers(const Tensor& in, Tensor* out) {
  const auto from = in.data<T>();
  const auto to = out->inplace_data<int64_t>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<int64_t>(from[i]);
}

template <typename T>
void NarrowIntegers(const Tensor& in, Tensor* out) {
  const auto from = in.data<int64_t>();
  const auto to = out->inplace_data<T>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<T>(from[i]);
}

void ShiftByHighBit(int64_t* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<int64_t>(static_cast<uint64_t>(x[i]) ^ kHighBit);
}

StatusOr<Tensor> ToWideTensor(KernelContext& ctx, const Tensor& t, bool shifted) {
  const DType wide_type = WideType(t.dtype());
  if (t.dtype() == wide_type) return t;
  TF_ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemp(wide_type, t.shape()));
  const int64_t n = t.num_elements();
  switch (t.dtype()) {
    case kFloat16:
      ToFloat(t.data<Float16>().data(), wide.inplace_data<float>().data(), n);
      return wide;
    case kBfloat16:
      ToFloat(t.data<Bfloat16>().data(), wide.inplace_data<float>().data(), n);
      return wide;
    case kInt8:
      WidenIntegers<int8_t>(t, &wide);
      return wide;
    case kInt16:
      WidenIntegers<int16_t>(t, &wide);
      return wide;
    case kInt32:
      WidenIntegers<int32_t>(t, &wide);
      return wide;
    case kUint8:
      WidenIntegers<uint8_t>(t, &wide);
      return wide;
    case kUint16:
      WidenIntegers<uint16_t>(t, &wide);
      return wide;
    case kUint32:
      WidenIntegers<uint32_t>(t, &wide);
      return wide;
    case kUint64:
      WidenIntegers<uint64_t>(t, &wide);
      if (shifted) ShiftByHighBit(wide.inplace_data<int64_t>().data(), n);
      return wide;
    default:
      return Unimplemented("cannot compute with elements of type ", t.dtype());
  }
}

}  // namespace

DType WideType(DType dtype) {
  if (dtype == kFloat16 || dtype == kBfloat16) return kFloat32;
  return IsFloating(dtype) ? dtype : kInt64;
}

StatusOr<Tensor> Widen(KernelContext& ctx, const Tensor& t) { return ToWideTensor(ctx, t, /*shifted=*/true); }
StatusOr<Tensor> WidenSummands(KernelContext& ctx, const Tensor& t) { return ToWideTensor(ctx, t, /*shifted=*/false); }

Status WideOutput::Allocate(KernelContext& ctx, int i, const Shape& shape, std::initializer_list<int> reuse) {
  TF_ASSIGN_OR_RETURN(out_, ctx.ForwardOrAllocateOutput(reuse, i, shape));
  const DType wide_type = WideType(out_->dtype());
  if (out_->dtype() == wide_type) {
    wide_ = *out_;
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(wide_, ctx.AllocateTemp(wide_type, shape));
  return OkStatus();
}

void WideOutput::Narrow(bool shifted) {
  const int64_t n = out_->num_elements();
  switch (out_->dtype()) {
    case kFloat16:
      FromFloat(wide_.data<float>().data(), out_->inplace_data<Float16>().data(), n);
      return;
    case kBfloat16:
      FromFloat(wide_.data<float>().data(), out_->inplace_data<Bfloat16>().data(), n);
      return;
    case kInt8:
      return NarrowIntegers<int8_t>(wide_, out_);
    case kInt16:
      return NarrowIntegers<int16_t>(wide_, out_);
    case kInt32:
      return NarrowIntegers<int32_t>(wide_, out_);
    case kUint8:
      return NarrowIntegers<uint8_t>(wide_, out_);
    case kUint16:
      return NarrowIntegers<uint16_t>(wide_, out_);
    case kUint32:
      return NarrowIntegers<uint32_t>(wide_, out_);
    case kUint64:
      if (shifted) ShiftByHighBit(wide_.inplace_data<int64_t>().data(), n);
      return NarrowIntegers<uint64_t>(wide_, out_);
    default:
      return;  // wide_ is the output
  }
}

}  // namespace tensorbraid::cpu
