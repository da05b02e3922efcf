// Convolutions of images and volumes, and their gradients.
#include "kernels/cpu/nn/convolution/convolution.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/nn/bias_relu.h"
#include "kernels/cpu/nn/convolution/convolution_columns.h"
#include "kernels/cpu/nn/convolution/convolution_primitives.h"
#include "kernels/cpu/nn/convolution/winograd.h"
#include "ops/nn/convolution.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// A float32 copy of a tensor of 16-bit floats.
StatusOr<Tensor> WidenedTo32(KernelContext& ctx, const Tensor& t) {
  TF_ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemp(kFloat32, t.shape()));
  float* to = wide.inplace_data<float>().data();
  if (t.dtype() == kFloat16) {
    ToFloat(t.data<Float16>().data(), to, t.num_elements());
  } else {
    ToFloat(t.data<Bfloat16>().data(), to, t.num_elements());
  }
  return wide;
}

// Whether an environment variable asks for convolutions as sums of products, without the method of Winograd. This makes
// rounding errors smaller.
bool SumsProducts() {
  const char* value = std::getenv("TENSORBRAID_DIRECT_CONVOLUTIONS");
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

class ConvolutionKernel final : public Kernel {
 public:
  explicit ConvolutionKernel(const KernelConstruction& c)
      : traits_(ConvolutionTraitsOf(c.node().type())),
        attrs_(ReadConvolutionAttrs(c.node())),
        batch_(ReadConvolutionBatch(c.node())),
        primitives_(MakeConvolutionPrimitives(traits_.result)),
        is_fused_(c.node().type() == "_FusedConv2D"),
        relu_(is_fused_ ? ReadFusedRelu(c.node()) : StatusOr<bool>(false)),
        sums_products_(SumsProducts()) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(attrs_.status());
    TF_RETURN_IF_ERROR(batch_.status());
    TF_ASSIGN_OR_RETURN(Shape input, ArgumentShape(ctx, 0));
    TF_ASSIGN_OR_RETURN(input, FoldBatch(*batch_, *attrs_, input));
    TF_ASSIGN_OR_RETURN(const Shape filter, ArgumentShape(ctx, 1));
    TF_RETURN_IF_ERROR(relu_.status());
    const bool forward = traits_.result == ConvolutionResult::kOutput;
    Shape output = forward ? Shape::Unknown() : ctx.input(2).shape();
    if (traits_.result == ConvolutionResult::kInput) {
      TF_ASSIGN_OR_RETURN(input, ConvolutionInputShape(*attrs_, traits_.depthwise, input, filter, output));
    }
    TF_ASSIGN_OR_RETURN(const Convolution c, MakeConvolution(*attrs_, traits_, input, filter, output));
    if (forward) {
      TF_RETURN_IF_ERROR(CheckGroups(*batch_, input, filter, c.groups));
      output = UnfoldBatch(*batch_, ctx.input(0).shape(), c.OutputShape());
    }
    const std::array<Shape, 3> shapes = {input, filter, output};
    const int result = traits_.result == ConvolutionResult::kInput    ? 0
                       : traits_.result == ConvolutionResult::kFilter ? 1
                                                                      : 2;
    BiasRelu bias;
    if (is_fused_) {
      if (c.channels_first) return Unimplemented("a fused convolution needs data_format NHWC");
      TF_ASSIGN_OR_RETURN(bias, MakeBiasRelu(ctx.input(2), c.out_channels, *relu_));
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shapes[result]));
    if (out->num_elements() == 0) return OkStatus();
    if (std::any_of(shapes.begin(), shapes.end(), [](const Shape& s) { return s.num_elements() == 0; })) {
      std::fill_n(static_cast<char*>(out->inplace_raw_data()), out->num_bytes(), 0);  // each element is an empty sum
      if (is_fused_) bias.ApplyShared(ctx, Data<float>(*out), out->num_elements() / bias.channels);
      return OkStatus();
    }
    std::array<Tensor, 3> tensors;
    for (int i = 0; i < 3; ++i) tensors[i] = i == result ? *out : ctx.input(i);
    switch (out->dtype()) {
      case DType::kFloat32:
        return ComputeFloat(ctx, c, tensors, is_fused_ ? &bias : nullptr);
      case DType::kFloat64:
        ComputeByColumns<double>(ctx, c, tensors);
        return OkStatus();
      case DType::kInt32:
        ComputeByColumns<int32_t>(ctx, c, tensors);
        return OkStatus();
      default:
        return ComputeHalf(ctx, c, result, tensors);
    }
  }

 private:
  // The shape of argument i or, if its value is itself a shape (such as "filter_sizes"), this value.
  static StatusOr<Shape> ArgumentShape(const KernelContext& ctx, int i) {
    const std::string& name = ctx.node().op().inputs[i].name;
    const Tensor& t = ctx.input(i);
    if (!name.ends_with("_sizes")) return t.shape();
    if (t.shape().rank() != 1) return InvalidArgument(name, " must be a vector, got shape ", t.shape());
    return ShapeFrom(t, name.c_str());
  }

  // The data of a tensor. It may be written only if the tensor is the output.
  template <typename T>
  static T* Data(const Tensor& t) {
    return const_cast<T*>(t.data<T>().data());
  }

  template <typename T>
  void ComputeByColumns(KernelContext& ctx, const Convolution& c, const std::array<Tensor, 3>& t) const {
    ConvolveByColumns<T>(ctx, traits_.result, c, Data<T>(t[0]), Data<T>(t[1]), Data<T>(t[2]));
  }

  // `bias` is null if the op is not fused.
  Status ComputeFloat(KernelContext& ctx, const Convolution& c, const std::array<Tensor, 3>& t, const BiasRelu* bias) {
    if (!sums_products_ && WinogradPays(c)) {
      return ConvolveByWinograd(ctx, traits_.result, c, Data<float>(t[0]), Data<float>(t[1]), Data<float>(t[2]), bias);
    }
    TF_ASSIGN_OR_RETURN(const bool done,
                        primitives_->Convolve(ctx, c, Data<float>(t[0]), Data<float>(t[1]), Data<float>(t[2]), bias));
    if (done) return OkStatus();
    ComputeByColumns<float>(ctx, c, t);
    if (bias != nullptr) bias->ApplyShared(ctx, Data<float>(t[2]), t[2].num_elements() / bias->channels);
    return OkStatus();
  }

  Status ComputeHalf(KernelContext& ctx, const Convolution& c, int result, std::array<Tensor, 3>& t) {
    const Tensor out = t[result];
    for (int i = 0; i < 3; ++i) {
      if (i == result) {
        TF_ASSIGN_OR_RETURN(t[i], ctx.AllocateTemp(kFloat32, out.shape()));
      } else {
        TF_ASSIGN_OR_RETURN(t[i], WidenedTo32(ctx, t[i]));
      }
    }
    TF_RETURN_IF_ERROR(ComputeFloat(ctx, c, t, /*bias=*/nullptr));
    const float* from = t[result].data<float>().data();
    if (out.dtype() == kFloat16) {
      FromFloat(from, Data<Float16>(out), out.num_elements());
    } else {
      FromFloat(from, Data<Bfloat16>(out), out.num_elements());
    }
    return OkStatus();
  }

  const ConvolutionTraits traits_;
  const StatusOr<WindowAttrs> attrs_;
  const StatusOr<ConvolutionBatch> batch_;
  const std::unique_ptr<ConvolutionPrimitives> primitives_;
  const bool is_fused_;
  const StatusOr<bool> relu_;
  const bool sums_products_;
};

}  // namespace

void AddConvolutionKernel(KernelRegistry& r, const char* op, DTypeSet types, std::source_location location) {
  r.Add<ConvolutionKernel>(op, {{"T", types}}, ConvolutionCost, location);
}

void RegisterNnConvolutionKernels(KernelRegistry& r) {
  const DTypeSet floats = {kFloat16, kBfloat16, kFloat32, kFloat64};
  const DTypeSet all = floats | DTypeSet{kInt32}, old_floats = {kFloat16, kFloat32, kFloat64};
  AddConvolutionKernel(r, "Conv2D", all);
  AddConvolutionKernel(r, "Conv", all);
  AddConvolutionKernel(r, "_FusedConv2D", {kFloat32});
  AddConvolutionKernel(r, "Conv2DBackpropInput", all);
  AddConvolutionKernel(r, "Conv2DBackpropInputV2", all);
  AddConvolutionKernel(r, "Conv2DBackpropFilter", floats);
  AddConvolutionKernel(r, "Conv2DBackpropFilterV2", floats);
  AddConvolutionKernel(r, "Conv3D", floats);
  AddConvolutionKernel(r, "Conv3DBackpropInput", old_floats);
  AddConvolutionKernel(r, "Conv3DBackpropInputV2", floats);
  AddConvolutionKernel(r, "Conv3DBackpropFilter", old_floats);
  AddConvolutionKernel(r, "Conv3DBackpropFilterV2", floats);
}

}  // namespace tensorbraid::cpu
