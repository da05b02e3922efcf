// The kernel that transforms images projectively.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The values of pixels outside of the image: a constant, or pixels of the image as if it were mirrored at its edges,
// repeated, or continued with the pixels at its edges.
enum class FillMode { kConstant, kReflect, kWrap, kNearest };

// The position in the image that stands for position `at` along a dimension of `size` pixels. With kConstant, returns
// `at`, which may lie outside of the image.
float InsideAxis(FillMode mode, float at, int64_t size) {
  const auto n = static_cast<float>(size);
  const float last = n - 1;
  if (mode == FillMode::kConstant || (at >= 0 && at <= last)) return at;
  if (mode == FillMode::kNearest) return std::clamp(at, 0.0f, last);
  if (size <= 1) return 0;
  if (mode == FillMode::kReflect) {
    const float twice = 2 * n;
    if (at < 0) {
      if (at < twice) at = twice * std::trunc(-at / twice) + at;
      at = at < -n ? at + twice : -at - 1;
    } else {
      at -= twice * std::trunc(at / twice);
      if (at >= n) at = twice - at - 1;
    }
  } else if (at < 0) {
    at += n * (std::trunc(-at / last) + 1);
  } else {
    at -= n * std::trunc(at / last);
  }
  return std::clamp(at, 0.0f, last);
}

template <typename T>
class ProjectiveKernel final : public Kernel {
 public:
  explicit ProjectiveKernel(const KernelConstruction& c) {
    const auto& interpolation = c.attr<std::string>("interpolation");
    const auto& mode = c.attr<std::string>("fill_mode");
    bilinear_ = interpolation == "BILINEAR";
    if (!bilinear_ && interpolation != "NEAREST") {
      status_ = InvalidArgument("interpolation must be 'NEAREST' or 'BILINEAR', got '", interpolation, "'");
    }
    if (mode == "CONSTANT") {
      mode_ = FillMode::kConstant;
    } else if (mode == "REFLECT") {
      mode_ = FillMode::kReflect;
    } else if (mode == "WRAP") {
      mode_ = FillMode::kWrap;
    } else if (mode == "NEAREST") {
      mode_ = FillMode::kNearest;
    } else {
      status_ = InvalidArgument("fill_mode must be 'CONSTANT', 'REFLECT', 'WRAP' or 'NEAREST', got '", mode, "'");
    }
  }

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(status_);
    const Tensor& images = ctx.input(0);
    const Shape& shape = images.shape();
    if (shape.rank() != 4) {
      return InvalidArgument("images must have shape [batch, height, width, channels], got ", shape);
    }
    const Shape& transforms = ctx.input(1).shape();
    if (transforms.rank() != 2 || transforms.dim(1) != 8 ||
        (transforms.dim(0) != 1 && transforms.dim(0) != shape.dim(0))) {
      return InvalidArgument("transforms must have shape [1, 8] or [", shape.dim(0), ", 8], got ", transforms);
    }
    const Tensor& size = ctx.input(2);
    if (size.shape() != Shape({2})) return InvalidArgument("output_shape must have shape [2], got ", size.shape());
    const int64_t out_height = size.data<int32_t>()[0], out_width = size.data<int32_t>()[1];
    if (out_height <= 0 || out_width <= 0) {
      return InvalidArgument("output_shape must be positive, got ", size.ToString());
    }
    float fill = 0;
    if (ctx.num_inputs() > 3) {
      if (!ctx.input(3).shape().is_scalar()) {
        return InvalidArgument("fill_value must be a scalar, got shape ", ctx.input(3).shape());
      }
      fill = ctx.input(3).scalar<float>();
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {shape.dim(0), out_height, out_width, shape.dim(3)}));
    if (out->num_elements() == 0) return OkStatus();  // without channels, the images may be huge
    const Image image{shape.dim(1), shape.dim(2), shape.dim(3), Stored(fill)};
    const int64_t pixels = image.height * image.width * image.channels;
    const T* from = images.data<T>().data();
    T* to = out->inplace_data<T>().data();
    const float* all = ctx.input(1).data<float>().data();
    const bool shared = transforms.dim(0) == 1;
    const double cost = static_cast<double>(out_width) * (10 + 4.0 * static_cast<double>(image.channels));
    Parallel(ctx, shape.dim(0) * out_height, cost, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t b = row / out_height;
        Row(image, from + b * pixels, all + (shared ? 0 : 8 * b), row % out_height, out_width,
            to + row * out_width * image.channels);
      }
    });
    return OkStatus();
  }

 private:
  using A = ComputeType<T>;
  struct Image {
    int64_t height, width, channels;
    T fill;
  };

  // `v` as an element. For an integer type, it is truncated and limited to the range of the type; NaN becomes 0.
  static T Stored(float v) {
    if constexpr (std::is_integral_v<T>) {
      if (std::isnan(v)) return 0;
      constexpr auto kLow = static_cast<float>(std::numeric_limits<T>::lowest());
      constexpr auto kHigh = static_cast<float>(std::numeric_limits<T>::max());
      if (v >= kHigh) return std::numeric_limits<T>::max();
      return v <= kLow ? std::numeric_limits<T>::lowest() : static_cast<T>(v);
    } else {
      return static_cast<T>(v);
    }
  }

  // Computes row y of the output from the position that the transformation gives for each of its pixels.
  void Row(const Image& image, const T* from, const float* t, int64_t y, int64_t out_width, T* to) const {
    const auto row = static_cast<float>(y);
    for (int64_t i = 0; i < out_width; ++i, to += image.channels) {
      const auto column = static_cast<float>(i);
      const float k = t[6] * column + t[7] * row + 1;
      if (k == 0) {
        std::fill_n(to, image.channels, image.fill);
        continue;
      }
      const float x = InsideAxis(mode_, (t[0] * column + t[1] * row + t[2]) / k, image.width);
      const float at = InsideAxis(mode_, (t[3] * column + t[4] * row + t[5]) / k, image.height);
      if (bilinear_) {
        Bilinear(image, from, at, x, to);
      } else {
        const T* pixel = PixelAt(image, from, std::round(at), std::round(x));
        for (int64_t c = 0; c < image.channels; ++c) to[c] = pixel == nullptr ? image.fill : pixel[c];
      }
    }
  }

  // The pixel, or null outside of the image. Comparisons with NaN are false, so NaN lies outside.
  static const T* PixelAt(const Image& image, const T* from, float y, float x) {
    if (!(y >= 0 && y < static_cast<float>(image.height) && x >= 0 && x < static_cast<float>(image.width))) {
      return nullptr;
    }
    return from + (static_cast<int64_t>(y) * image.width + static_cast<int64_t>(x)) * image.channels;
  }

  static void Bilinear(const Image& image, const T* from, float y, float x, T* to) {
    const float top = std::floor(y), left = std::floor(x);
    const float bottom = top + 1, right = left + 1;
    const T* pixels[] = {PixelAt(image, from, top, left), PixelAt(image, from, top, right),
                         PixelAt(image, from, bottom, left), PixelAt(image, from, bottom, right)};
    for (int64_t c = 0; c < image.channels; ++c) {
      const auto value = [&](int i) {
        return static_cast<float>(static_cast<A>(pixels[i] == nullptr ? image.fill : pixels[i][c]));
      };
      const float upper = (right - x) * value(0) + (x - left) * value(1);
      const float lower = (right - x) * value(2) + (x - left) * value(3);
      to[c] = Stored((bottom - y) * upper + (y - top) * lower);
    }
  }

  bool bilinear_ = false;
  FillMode mode_ = FillMode::kConstant;
  Status status_;  // not OK if the attributes are wrong
};

}  // namespace

void RegisterImageProjectiveKernels(KernelRegistry& r) {
  const auto add = [&]<typename... T>(Types<T...>) {
    for (const char* op : {"ImageProjectiveTransformV2", "ImageProjectiveTransformV3"}) {
      (r.Add<ProjectiveKernel<T>>(op, {{"dtype", {DTypeOf<T>::value}}}, ElementCost<5'000>), ...);
    }
  };
  add(Types<uint8_t, int32_t, int64_t, Float16, Bfloat16, float, double>{});
}

}  // namespace tensorbraid::cpu
