// Inputs and outputs of kernels that compute 16-bit floats in float32 and all other types without conversion.
#ifndef TENSORBRAID_KERNELS_CPU_RNN_FLOATS_H_
#define TENSORBRAID_KERNELS_CPU_RNN_FLOATS_H_

#include "kernels/cpu/compute_type.h"
#include "kernels/cpu/half.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// The elements of a tensor of type T, as float32 if T is a 16-bit float. Otherwise shares the tensor's buffer.
template <typename T>
StatusOr<Tensor> AsFloats(KernelContext& ctx, const Tensor& t) {
  if constexpr (kIsHalf<T>) {
    TF_ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemp(kFloat32, t.shape()));
    ToFloat(t.data<T>().data(), wide.inplace_data<float>().data(), t.num_elements());
    return wide;
  } else {
    return t;
  }
}

// Output i of a kernel, to be written as the type that T is computed in. A default-constructed object stands for an
// output that is not computed; its data() is null.
template <typename T>
class FloatOutput {
 public:
  static StatusOr<FloatOutput> Allocate(KernelContext& ctx, int i, const Shape& shape) {
    FloatOutput out;
    TF_ASSIGN_OR_RETURN(out.output_, ctx.AllocateOutput(i, shape));
    if constexpr (kIsHalf<T>) {
      TF_ASSIGN_OR_RETURN(out.wide_, ctx.AllocateTemp(kFloat32, shape));
      out.data_ = out.wide_.template inplace_data<float>().data();
    } else {
      out.data_ = out.output_->template inplace_data<T>().data();
    }
    return out;
  }
  ComputeType<T>* data() const { return data_; }
  int64_t size() const { return output_ == nullptr ? 0 : output_->num_elements(); }
  // Rounds what was written to the type of the output.
  void Finish() {
    if constexpr (kIsHalf<T>) {
      if (output_ != nullptr) FromFloat(data_, output_->inplace_data<T>().data(), size());
    }
  }

 private:
  Tensor* output_ = nullptr;
  Tensor wide_;
  ComputeType<T>* data_ = nullptr;
};

// InvalidArgument unless `t` has this shape. `name` is the input's name and `sizes` explains the shape.
inline Status CheckShape(const char* name, const Tensor& t, const Shape& shape, const char* sizes) {
  if (t.shape() == shape) return OkStatus();
  return InvalidArgument(name, " must have shape ", sizes, " = ", shape, ", got ", t.shape());
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_RNN_FLOATS_H_
