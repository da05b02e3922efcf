// The kernel that extracts patches of images and volumes.
#include "ops/image/patches.h"

#include <array>
#include <cstring>

#include "kernels/cpu/elementwise.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// One spatial dimension.
struct PatchAxis {
  int64_t in = 1, out = 1;  // the number of elements, and the number of patches
  int64_t size = 1, stride = 1, rate = 1;
  int64_t before = 0;  // padding
};

class PatchesKernel final : public Kernel {
 public:
  explicit PatchesKernel(const KernelConstruction& c)
      : spatial_(c.node().op().name == "ExtractImagePatches" ? 2 : 3),
        same_(c.attr<std::string>("padding") == "SAME"),
        window_(PatchWindow::Of(c.node(), spatial_ + 2)) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(window_.status());
    const Tensor& in = ctx.input(0);
    const Shape& shape = in.shape();
    if (shape.rank() != spatial_ + 2) {
      return InvalidArgument("the input must have rank ", spatial_ + 2, ", got shape ", shape);
    }
    // An image is a volume with a first dimension of size 1.
    std::array<PatchAxis, 3> axes;
    Shape out_shape = shape;
    int64_t copies = 1;
    for (int i = 0; i < spatial_; ++i) {
      const size_t d = static_cast<size_t>(i) + 1;
      PatchAxis& axis = axes[axes.size() - static_cast<size_t>(spatial_ - i)];
      axis.in = shape.dim(i + 1);
      axis.size = window_->sizes[d];
      axis.stride = window_->strides[d];
      axis.rate = window_->rates[d];
      if (axis.in > INT32_MAX) return InvalidArgument("the input is too large: ", shape);
      const int64_t window = (axis.size - 1) * axis.rate + 1;
      if (same_) {
        axis.out = (axis.in + axis.stride - 1) / axis.stride;
        axis.before = std::max<int64_t>(0, (axis.out - 1) * axis.stride + window - axis.in) / 2;
      } else {
        if (axis.in < window) {
          return InvalidArgument("a patch of ", window, " elements is larger than dimension ", i + 1, " of ", shape);
        }
        axis.out = (axis.in - window) / axis.stride + 1;
      }
      out_shape.set_dim(i + 1, axis.out);
      if (__builtin_mul_overflow(copies, axis.size, &copies)) {
        return InvalidArgument("the patches of ", shape, " are too large");
      }
    }
    const int64_t depth = shape.dim(spatial_ + 1);
    int64_t out_depth = 0;
    if (__builtin_mul_overflow(copies, depth, &out_depth)) {
      return InvalidArgument("the patches of ", shape, " are too large");
    }
    out_shape.set_dim(spatial_ + 1, out_depth);
    if (out_shape.num_elements() < 0) return InvalidArgument("the patches of ", shape, " are too large: ", out_shape);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, out_shape));
    if (out->num_elements() == 0) return OkStatus();
    Copy(ctx, in, axes, copies, depth * static_cast<int64_t>(DTypeSize(in.dtype())), out);
    return OkStatus();
  }

 private:
  // `pixel` is the number of bytes at one position, `copies` the number of positions in a patch.
  static void Copy(KernelContext& ctx, const Tensor& in, const std::array<PatchAxis, 3>& axes, int64_t copies,
                   int64_t pixel, Tensor* out) {
    const auto* from = static_cast<const char*>(in.raw_data());
    auto* to = static_cast<char*>(out->inplace_raw_data());
    const auto& [z, y, x] = axes;
    const int64_t patches = in.shape().dim(0) * z.out * y.out * x.out;
    const double cost = static_cast<double>(copies) * (2 + 0.1 * static_cast<double>(pixel));
    Parallel(ctx, patches, cost, [&, z = z, y = y, x = x](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        int64_t rest = p;
        const int64_t x0 = rest % x.out * x.stride - x.before;
        rest /= x.out;
        const int64_t y0 = rest % y.out * y.stride - y.before;
        rest /= y.out;
        const int64_t z0 = rest % z.out * z.stride - z.before;
        const int64_t image = rest / z.out;
        char* patch = to + p * copies * pixel;
        for (int64_t k = 0; k < z.size; ++k) {
          const int64_t zi = z0 + k * z.rate;
          for (int64_t j = 0; j < y.size; ++j) {
            const int64_t yi = y0 + j * y.rate;
            for (int64_t i = 0; i < x.size; ++i, patch += pixel) {
              const int64_t xi = x0 + i * x.rate;
              const bool inside = zi >= 0 && zi < z.in && yi >= 0 && yi < y.in && xi >= 0 && xi < x.in;
              if (inside) {
                const int64_t at = ((image * z.in + zi) * y.in + yi) * x.in + xi;
                std::memcpy(patch, from + at * pixel, static_cast<size_t>(pixel));
              } else {
                std::memset(patch, 0, static_cast<size_t>(pixel));
              }
            }
          }
        }
      }
    });
  }

  const int spatial_;
  const bool same_;
  const StatusOr<PatchWindow> window_;
};

}  // namespace

void RegisterImagePatchesKernels(KernelRegistry& r) {
  r.Add<PatchesKernel>("ExtractImagePatches");
  r.Add<PatchesKernel>("ExtractVolumePatches");
}

}  // namespace tensorbraid::cpu
