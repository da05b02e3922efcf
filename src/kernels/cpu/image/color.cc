// Kernels that convert images between colour spaces, or adjust their hue, saturation or contrast.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/image/floats.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// HsvOf computes hue, saturation and value of a pixel, and RgbOf its red, green and blue. The hue of grey is 0.
template <typename A>
void HsvOf(const A* rgb, A* hsv) {
  const A r = rgb[0], g = rgb[1], b = rgb[2];
  const A value = std::max({r, g, b});
  const A range = value - std::min({r, g, b});
  A hue = 0;
  if (range > 0) {
    const A norm = A(1) / (A(6) * range);
    if (r == value) {
      hue = norm * (g - b);
    } else if (g == value) {
      hue = norm * (b - r) + A(2) / A(6);
    } else {
      hue = norm * (r - g) + A(4) / A(6);
    }
    if (hue < 0) hue += 1;
  }
  hsv[0] = hue;
  hsv[1] = value > 0 ? range / value : A(0);
  hsv[2] = value;
}

template <typename A>
void RgbOf(const A* hsv, A* rgb) {
  const A h = hsv[0] * 6, s = hsv[1], v = hsv[2];
  const A parts[] = {std::abs(h - 3) - 1, 2 - std::abs(h - 2), 2 - std::abs(h - 4)};
  for (int c = 0; c < 3; ++c) rgb[c] = (1 - s + s * std::clamp(parts[c], A(0), A(1))) * v;
}

// Converts each pixel with convert(in, out); 16-bit floats are computed as float32.
template <typename T, typename Convert>
void ConvertPixels(KernelContext& ctx, const Tensor& in, Tensor* out, double cost, const Convert& convert) {
  using A = ComputeType<T>;
  const T* from = in.data<T>().data();
  T* to = out->inplace_data<T>().data();
  Parallel(ctx, in.num_elements() / 3, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
      const A pixel[] = {static_cast<A>(from[i]), static_cast<A>(from[i + 1]), static_cast<A>(from[i + 2])};
      A converted[3];
      convert(pixel, converted);
      for (int c = 0; c < 3; ++c) to[i + c] = static_cast<T>(converted[c]);
    }
  });
}

Status CheckColors(const Shape& shape, int min_rank) {
  if (shape.rank() < min_rank || shape.dim(shape.rank() - 1) != 3) {
    return InvalidArgument("images must have rank ", min_rank,
                           " or more and 3 channels in their last dimension, got shape ", shape);
  }
  return OkStatus();
}

template <typename T, bool kToHsv>
Status ConvertColors(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(CheckColors(ctx.input(0).shape(), 1));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  ConvertPixels<T>(ctx, ctx.input(0), out, 6, [](const auto* in, auto* converted) {
    if constexpr (kToHsv) {
      HsvOf(in, converted);
    } else {
      RgbOf(in, converted);
    }
  });
  return OkStatus();
}

Status CheckScalar(const KernelContext& ctx, int i, const char* what) {
  if (ctx.input(i).shape().is_scalar()) return OkStatus();
  return InvalidArgument(what, " must be a scalar, got shape ", ctx.input(i).shape());
}

template <typename T>
Status AdjustHue(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(CheckColors(ctx.input(0).shape(), 3));
  TF_RETURN_IF_ERROR(CheckScalar(ctx, 1, "delta"));
  const float delta = ctx.input(1).scalar<float>();
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  ConvertPixels<T>(ctx, ctx.input(0), out, 15, [delta](const float* in, float* adjusted) {
    float hsv[3];
    HsvOf(in, hsv);
    hsv[0] += delta;
    hsv[0] -= std::floor(hsv[0]);
    RgbOf(hsv, adjusted);
  });
  return OkStatus();
}

template <typename T>
Status AdjustSaturation(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(CheckColors(ctx.input(0).shape(), 3));
  TF_RETURN_IF_ERROR(CheckScalar(ctx, 1, "scale"));
  const float scale = ctx.input(1).scalar<float>();
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  ConvertPixels<T>(ctx, ctx.input(0), out, 15, [scale](const float* in, float* adjusted) {
    float hsv[3];
    HsvOf(in, hsv);
    hsv[1] = std::clamp(hsv[1] * scale, 0.0f, 1.0f);
    RgbOf(hsv, adjusted);
  });
  return OkStatus();
}

// Scales the distance of each element x from the mean of its channel in its image: mean + factor (x - mean). With
// kLimits, the result is limited to [min_value, max_value].
template <bool kLimits>
Status AdjustContrast(KernelContext& ctx) {
  const Tensor& images = ctx.input(0);
  const Shape& shape = images.shape();
  if (shape.rank() < 3) return InvalidArgument("images must have rank 3 or more, got shape ", shape);
  TF_RETURN_IF_ERROR(CheckScalar(ctx, 1, "contrast_factor"));
  const float factor = ctx.input(1).scalar<float>();
  float low = 0, high = 0;
  if constexpr (kLimits) {
    TF_RETURN_IF_ERROR(CheckScalar(ctx, 2, "min_value"));
    TF_RETURN_IF_ERROR(CheckScalar(ctx, 3, "max_value"));
    low = ctx.input(2).scalar<float>();
    high = ctx.input(3).scalar<float>();
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  TF_ASSIGN_OR_RETURN(const Tensor wide, WidenToFloat(ctx, images));
  const float* in = wide.data<float>().data();
  const int rank = shape.rank();
  const int64_t channels = shape.dim(rank - 1), pixels = shape.dim(rank - 2) * shape.dim(rank - 3);
  const int64_t image = pixels * channels;
  const int64_t batch = images.num_elements() / image;
  Parallel(ctx, batch, 1.0 * static_cast<double>(image), [&](int64_t begin, int64_t end) {
    std::vector<double> means(static_cast<size_t>(channels));
    std::vector<float> adjusted(static_cast<size_t>(channels));
    for (int64_t b = begin; b < end; ++b) {
      const float* from = in + b * image;
      std::fill(means.begin(), means.end(), 0.0);
      for (int64_t p = 0; p < pixels; ++p) {
        for (int64_t c = 0; c < channels; ++c) means[static_cast<size_t>(c)] += from[p * channels + c];
      }
      for (double& mean : means) mean /= static_cast<double>(pixels);
      for (int64_t p = 0; p < pixels; ++p) {
        for (int64_t c = 0; c < channels; ++c) {
          const auto mean = static_cast<float>(means[static_cast<size_t>(c)]);
          float x = (from[p * channels + c] - mean) * factor + mean;
          if constexpr (kLimits) x = std::max(std::min(x, high), low);
          adjusted[static_cast<size_t>(c)] = x;
        }
        NarrowFromFloat(adjusted.data(), channels, out, b * image + p * channels);
      }
    }
  });
  return OkStatus();
}

}  // namespace

void RegisterImageColorKernels(KernelRegistry& r) {
  const auto add = [&]<typename... T>(Types<T...>) {
    (r.Add("RGBToHSV", {{"T", {DTypeOf<T>::value}}}, ConvertColors<T, /*kToHsv=*/true>, ElementCost<2'000>), ...);
    (r.Add("HSVToRGB", {{"T", {DTypeOf<T>::value}}}, ConvertColors<T, /*kToHsv=*/false>, ElementCost<2'000>), ...);
  };
  add(FloatTypes{});
  r.Add("AdjustHue", {{"T", {kFloat32}}}, AdjustHue<float>, ElementCost<5'000>);
  r.Add("AdjustHue", {{"T", {kFloat16}}}, AdjustHue<Float16>, ElementCost<5'000>);
  r.Add("AdjustSaturation", {{"T", {kFloat32}}}, AdjustSaturation<float>, ElementCost<5'000>);
  r.Add("AdjustSaturation", {{"T", {kFloat16}}}, AdjustSaturation<Float16>, ElementCost<5'000>);
  r.Add("AdjustContrast", {}, AdjustContrast</*kLimits=*/true>, ElementCost<2'000>);
  r.Add("AdjustContrastv2", {}, AdjustContrast</*kLimits=*/false>, ElementCost<2'000>);
}

}  // namespace tensorbraid::cpu
