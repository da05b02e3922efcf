// Convolutions of images that are first resized and padded with mirrored pixels.
#include <string>
#include <vector>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/image/resize_axis.h"
#include "kernels/cpu/nn/convolution/convolution_columns.h"
#include "kernels/cpu/nn/convolution/wide_tensor.h"
#include "ops/nn/convolution.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Returns, for each position of a padded axis, the position in `inner` that it mirrors. InvalidArgument if a padding is
// larger than what can be mirrored.
StatusOr<std::vector<Between>> Mirrored(const std::vector<Between>& inner, int64_t before, int64_t after,
                                        bool reflect) {
  const auto size = static_cast<int64_t>(inner.size());
  if (const int64_t most = reflect ? size - 1 : size; before > most || after > most) {
    return InvalidArgument("paddings must be ", reflect ? "less" : "no greater", " than the dimension size: ", before,
                           ", ", after, reflect ? " not less than " : " greater than ", size);
  }
  std::vector<Between> padded;
  padded.reserve(static_cast<size_t>(before + size + after));
  const int64_t border = reflect ? 1 : 0;  // REFLECT does not repeat the border; SYMMETRIC does
  for (int64_t i = before; i > 0; --i) padded.push_back(inner[static_cast<size_t>(i - 1 + border)]);
  padded.insert(padded.end(), inner.begin(), inner.end());
  for (int64_t i = 1; i <= after; ++i) padded.push_back(inner[static_cast<size_t>(size - i - border)]);
  return padded;
}

class FusedConvolutionKernel final : public Kernel {
 public:
  explicit FusedConvolutionKernel(const KernelConstruction& c)
      : resizes_(c.node().type() == "FusedResizeAndPadConv2D"),
        align_corners_(resizes_ && c.attr<bool>("resize_align_corners")),
        reflect_(c.attr<std::string>("mode") == "REFLECT"),
        attrs_(ReadFusedConvolutionAttrs(c.node())) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(attrs_.status());
    const int paddings = resizes_ ? 2 : 1;
    const Tensor &input = ctx.input(0), &filter = ctx.input(paddings + 1);
    const Shape& in = input.shape();
    if (in.rank() != 4) return InvalidArgument("input must have shape [batch, height, width, channels], got ", in);
    if (in.num_elements() == 0) return InvalidArgument("Input tensor can't be empty, got shape ", in);
    if (resizes_) {
      const Tensor& size = ctx.input(1);
      if (size.shape() != Shape({2})) return InvalidArgument("size must have two elements, got shape ", size.shape());
      if (size.data<int32_t>()[0] <= 0 || size.data<int32_t>()[1] <= 0) {
        return InvalidArgument("output dimensions must be positive, got size ", size.ToString());
      }
    }
    TF_ASSIGN_OR_RETURN(const MirrorPaddings around, ReadMirrorPaddings(ctx.input(paddings)));
    Shape shape = in;  // of the resized and padded images; checked before the tables of positions are made
    for (int i = 0; i < 2; ++i) {
      shape.set_dim(1 + i,
                    (resizes_ ? ctx.input(1).data<int32_t>()[i] : in.dim(1 + i)) + around.before[i] + around.after[i]);
    }
    TF_ASSIGN_OR_RETURN(const Convolution c,
                        MakeConvolution(*attrs_, ConvolutionTraits(), shape, filter.shape(), Shape::Unknown()));
    if (c.groups != 1) {
      return InvalidArgument("input and filter must have the same depth: ", c.in_channels, " vs ",
                             filter.shape().dim(2));
    }
    TF_ASSIGN_OR_RETURN(const Tensor wide, Widen(ctx, input));
    TF_ASSIGN_OR_RETURN(Tensor padded, ctx.AllocateTemp(wide.dtype(), shape));
    TF_ASSIGN_OR_RETURN(const std::vector<Between> ys, Positions(ctx, 0, in, around));
    TF_ASSIGN_OR_RETURN(const std::vector<Between> xs, Positions(ctx, 1, in, around));
    TF_ASSIGN_OR_RETURN(const Tensor wide_filter, Widen(ctx, filter));
    WideOutput out;
    TF_RETURN_IF_ERROR(out.Allocate(ctx, 0, c.OutputShape()));
    const auto run = [&]<typename A>() {
      A* const images = padded.inplace_data<A>().data();
      Pad(ctx, wide.data<A>().data(), in, ys, xs, images);
      ConvolveByColumns<A>(ctx, ConvolutionResult::kOutput, c, images, const_cast<A*>(wide_filter.data<A>().data()),
                           out.data<A>());
    };
    if (wide.dtype() == kFloat64) {
      run.template operator()<double>();
    } else {
      run.template operator()<float>();
    }
    out.Finish();
    return OkStatus();
  }

 private:
  // The positions in the input that make the padded height (axis 0) or width (axis 1).
  StatusOr<std::vector<Between>> Positions(const KernelContext& ctx, int axis, const Shape& in,
                                           const MirrorPaddings& around) const {
    const int64_t size = in.dim(1 + axis);
    std::vector<Between> inner;
    if (resizes_) {
      inner = BetweenAll(MakeResizeAxis(size, ctx.input(1).data<int32_t>()[axis], align_corners_,
                                        /*half_pixel=*/false));
    } else {
      for (int64_t i = 0; i < size; ++i) inner.push_back({i, i, 0.0f});
    }
    return Mirrored(inner, around.before[axis], around.after[axis], reflect_);
  }

  // Writes the pixels at positions `ys` and `xs` of each image of shape `in`.
  template <typename A>
  static void Pad(KernelContext& ctx, const A* images, const Shape& in, const std::vector<Between>& ys,
                  const std::vector<Between>& xs, A* out) {
    const int64_t channels = in.dim(3), in_row = in.dim(2) * channels;
    const auto rows = static_cast<int64_t>(ys.size()), row = static_cast<int64_t>(xs.size()) * channels;
    Parallel(ctx, in.dim(0) * rows, 2.0 * static_cast<double>(row), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const A* const image = images + r / rows * in.dim(1) * in_row;
        const Between& y = ys[static_cast<size_t>(r % rows)];
        const A *top = image + y.lower * in_row, *bottom = image + y.upper * in_row;
        A* to = out + r * row;
        for (const Between& x : xs) {
          const int64_t left = x.lower * channels, right = x.upper * channels;
          for (int64_t c = 0; c < channels; ++c) {
            const A t = top[left + c] + (top[right + c] - top[left + c]) * A(x.lerp);
            const A b = bottom[left + c] + (bottom[right + c] - bottom[left + c]) * A(x.lerp);
            *to++ = t + (b - t) * A(y.lerp);
          }
        }
      }
    });
  }

  const bool resizes_, align_corners_, reflect_;
  const StatusOr<WindowAttrs> attrs_;
};

Cost FusedConvolutionCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  const int filter = c.node().type() == "FusedResizeAndPadConv2D" ? 3 : 2;
  cost.flops = 2 * c.output_elements(0) * c.input_elements(filter) / std::max(1.0, c.input_dim(filter, -1));
  return cost;
}

}  // namespace

void RegisterNnFusedConvolutionKernels(KernelRegistry& r) {
  r.Add<FusedConvolutionKernel>("FusedResizeAndPadConv2D", {}, FusedConvolutionCost);
  r.Add<FusedConvolutionKernel>("FusedPadConv2D", {}, FusedConvolutionCost);
}

}  // namespace tensorbraid::cpu
