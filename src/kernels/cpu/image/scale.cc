// Kernels that scale and translate images: an output pixel is the mean of input pixels, weighted by a function of their
// distance.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/image/floats.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

constexpr float kPi = 3.14159265359f;

// Functions of a distance x >= 0. They are 0 for distances of at least the radius.
float Lanczos(float x, float radius) {
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}
float Lanczos1(float x) { return Lanczos(x, 1); }
float Lanczos3(float x) { return Lanczos(x, 3); }
float Lanczos5(float x) { return Lanczos(x, 5); }
float Gaussian(float x) {
  constexpr float kRadius = 1.5f, kSigma = kRadius / 3;
  return x >= kRadius ? 0 : std::exp(-x * x / (2 * kSigma * kSigma));
}
float Box(float x) { return x < 0.5f ? 1 : x == 0.5f ? 0.5f : 0; }
float Triangle(float x) { return x < 1 ? 1 - x : 0; }
float KeysCubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
  return ((1.5f * x - 2.5f) * x) * x + 1;
}
float MitchellCubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return (((-7.0f / 18) * x + 2) * x - 10.0f / 3) * x + 16.0f / 9;
  return (((7.0f / 6) * x - 2) * x) * x + 8.0f / 9;
}

struct ScaleFunction {
  const char* name;
  float radius;
  float (*at)(float);
};
constexpr ScaleFunction kScaleFunctions[] = {{"lanczos1", 1, Lanczos1},
                                             {"lanczos3", 3, Lanczos3},
                                             {"lanczos5", 5, Lanczos5},
                                             {"gaussian", 1.5f, Gaussian},
                                             {"box", 1, Box},
                                             {"triangle", 1, Triangle},
                                             {"keyscubic", 2, KeysCubic},
                                             {"mitchellcubic", 2, MitchellCubic}};

// The input positions [first, first + weight.size()) that contribute to an output position.
struct Span {
  int64_t first = 0;
  std::vector<float> weight;
};

// The spans of a dimension. Output position x lies at (x + 0.5 - translation) / scale in the input, where pixel i
// covers [i, i + 1]. A span has about 2 * f.radius weights; with `antialias`, 1 / scale times as many if the image
// shrinks.
std::vector<Span> SpansOf(const ScaleFunction& f, int64_t in, int64_t out, float scale, float translation,
                          bool antialias) {
  const float inverse = 1.0f / scale;
  const float shift = -inverse * translation;
  // If the image shrinks, the function is stretched. This filters out details that the output cannot show.
  const float stretch = antialias ? std::max(inverse, 1.0f) : 1.0f;
  const float one_over_stretch = 1.0f / stretch;
  const auto last = static_cast<float>(in - 1);
  std::vector<Span> spans(static_cast<size_t>(out));
  for (int64_t x = 0; x < out; ++x) {
    const float sample = (static_cast<float>(x) + 0.5f) * inverse + shift;
    if (!(sample >= 0 && sample <= static_cast<float>(in))) continue;
    const float reach = f.radius * stretch;
    Span& span = spans[static_cast<size_t>(x)];
    span.first = std::min(static_cast<int64_t>(std::clamp(std::ceil(sample - reach - 0.5f), 0.0f, last)), in - 1);
    const int64_t end =
        std::min(static_cast<int64_t>(std::clamp(std::floor(sample + reach - 0.5f), 0.0f, last)), in - 1) + 1;
    float sum = 0;
    for (int64_t i = span.first; i < end; ++i) {
      const float w = f.at(std::abs(static_cast<float>(i) + 0.5f - sample) * one_over_stretch);
      span.weight.push_back(w);
      sum += w;
    }
    if (std::abs(sum) >= 1000 * std::numeric_limits<float>::min()) {
      const float norm = 1.0f / sum;
      for (float& w : span.weight) w *= norm;
    } else {
      span.weight.clear();
    }
  }
  return spans;
}

double WeightsIn(const std::vector<Span>& spans) {
  double n = 0;
  for (const Span& s : spans) n += static_cast<double>(s.weight.size());
  return n;
}

class ScaleKernel : public Kernel {
 public:
  explicit ScaleKernel(const KernelConstruction& c) : antialias_(c.attr<bool>("antialias")) {
    const auto& name = c.attr<std::string>("kernel_type");
    for (const ScaleFunction& f : kScaleFunctions) {
      if (name == f.name) function_ = &f;
    }
    if (function_ == nullptr) {
      status_ = InvalidArgument("kernel_type '", name,
                                "' is not one of lanczos1, lanczos3, lanczos5, gaussian, box, triangle, keyscubic and "
                                "mitchellcubic");
    }
  }

 protected:
  // The spans of rows and columns. Scale and translation are in inputs `first` and first + 1.
  Status Spans(const KernelContext& ctx, int first, const Shape& in, const Shape& out, std::vector<Span>* rows,
               std::vector<Span>* columns) const {
    TF_RETURN_IF_ERROR(status_);
    for (int i = first; i < first + 2; ++i) {
      if (ctx.input(i).shape() != Shape({2})) {
        return InvalidArgument("scale and translation must have shape [2], got ", ctx.input(i).shape());
      }
    }
    const auto scale = ctx.input(first).data<float>(), translation = ctx.input(first + 1).data<float>();
    for (size_t i = 0; i < 2; ++i) {
      if (!(scale[i] > 0) || !std::isfinite(scale[i])) {
        return InvalidArgument("scale must be positive, got ", ctx.input(first).ToString());
      }
    }
    if (out.num_elements() == 0) return OkStatus();  // the images of an empty batch may be huge
    *rows = SpansOf(*function_, in.dim(1), out.dim(1), scale[0], translation[0], antialias_);
    *columns = SpansOf(*function_, in.dim(2), out.dim(2), scale[1], translation[1], antialias_);
    return OkStatus();
  }

  static Status CheckImages(const char* what, const Shape& shape) {
    if (shape.rank() != 4) {
      return InvalidArgument(what, " must have shape [batch, height, width, channels], got ", shape);
    }
    for (int i = 1; i < 4; ++i) {
      if (shape.dim(i) <= 0 || shape.dim(i) > INT32_MAX) {
        return InvalidArgument(what, " must have images that are not empty, got shape ", shape);
      }
    }
    return OkStatus();
  }

 private:
  const bool antialias_;
  const ScaleFunction* function_ = nullptr;
  Status status_;  // not OK if the attributes are wrong
};

class ScaleAndTranslateKernel final : public ScaleKernel {
 public:
  using ScaleKernel::ScaleKernel;
  Status Compute(KernelContext& ctx) override {
    const Shape& shape = ctx.input(0).shape();
    TF_RETURN_IF_ERROR(CheckImages("images", shape));
    const Tensor& size = ctx.input(1);
    if (size.shape() != Shape({2})) return InvalidArgument("size must have shape [2], got ", size.shape());
    const Shape out_shape{shape.dim(0), size.data<int32_t>()[0], size.data<int32_t>()[1], shape.dim(3)};
    if (out_shape.dim(1) <= 0 || out_shape.dim(2) <= 0) {
      return InvalidArgument("size must be positive, got ", size.ToString());
    }
    TF_ASSIGN_OR_RETURN(Tensor * result, ctx.AllocateOutput(0, out_shape));
    std::vector<Span> rows, columns;
    TF_RETURN_IF_ERROR(Spans(ctx, 2, shape, out_shape, &rows, &columns));
    TF_ASSIGN_OR_RETURN(const Tensor wide, WidenToFloat(ctx, ctx.input(0)));
    const float* images = wide.data<float>().data();
    float* out = result->inplace_data<float>().data();
    const int64_t channels = shape.dim(3), height = shape.dim(1), out_height = out_shape.dim(1);
    const int64_t in_row = shape.dim(2) * channels, out_row = out_shape.dim(2) * channels;
    const double cost = static_cast<double>(in_row) * WeightsIn(rows) / static_cast<double>(out_height) * 0.5 +
                        static_cast<double>(channels) * WeightsIn(columns);
    Parallel(ctx, shape.dim(0) * out_height, cost, [&](int64_t begin, int64_t end) {
      std::vector<float> blended(static_cast<size_t>(in_row));
      for (int64_t row = begin; row < end; ++row) {
        const float* image = images + row / out_height * height * in_row;
        Gather(rows[static_cast<size_t>(row % out_height)], image, in_row, blended.data());
        float* to = out + row * out_row;
        for (const Span& column : columns) {
          Gather(column, blended.data(), channels, to);
          to += channels;
        }
      }
    });
    return OkStatus();
  }

 private:
  // The weighted sum of items of n numbers.
  static void Gather(const Span& span, const float* items, int64_t n, float* sum) {
    std::fill_n(sum, n, 0.0f);
    const float* item = items + span.first * n;
    for (const float w : span.weight) {
      for (int64_t i = 0; i < n; ++i) sum[i] += item[i] * w;
      item += n;
    }
  }
};

class ScaleAndTranslateGradKernel final : public ScaleKernel {
 public:
  using ScaleKernel::ScaleKernel;
  Status Compute(KernelContext& ctx) override {
    const Shape& grads_shape = ctx.input(0).shape();
    const Shape& shape = ctx.input(1).shape();
    TF_RETURN_IF_ERROR(CheckImages("grads", grads_shape));
    TF_RETURN_IF_ERROR(CheckImages("original_image", shape));
    if (grads_shape.dim(0) != shape.dim(0) || grads_shape.dim(3) != shape.dim(3)) {
      return InvalidArgument("grads and original_image must have the same batch size and channels, got shapes ",
                             grads_shape, " and ", shape);
    }
    TF_ASSIGN_OR_RETURN(Tensor * result, ctx.AllocateOutput(0, shape));
    std::vector<Span> rows, columns;
    TF_RETURN_IF_ERROR(Spans(ctx, 2, shape, grads_shape, &rows, &columns));
    const float* grads = ctx.input(0).data<float>().data();
    float* out = result->inplace_data<float>().data();
    const int64_t channels = shape.dim(3);
    const int64_t in_row = shape.dim(2) * channels, out_row = grads_shape.dim(2) * channels;
    const int64_t image = shape.dim(1) * in_row;
    const double cost = static_cast<double>(in_row) * WeightsIn(rows) * 0.5 +
                        static_cast<double>(channels * grads_shape.dim(1)) * WeightsIn(columns);
    Parallel(ctx, shape.dim(0), cost, [&](int64_t begin, int64_t end) {
      std::fill(out + begin * image, out + end * image, 0.0f);
      std::vector<float> spread(static_cast<size_t>(in_row));
      for (int64_t b = begin; b < end; ++b) {
        for (int64_t y = 0; y < grads_shape.dim(1); ++y) {
          const float* from = grads + (b * grads_shape.dim(1) + y) * out_row;
          std::fill(spread.begin(), spread.end(), 0.0f);
          for (const Span& column : columns) {
            Scatter(column, from, channels, spread.data());
            from += channels;
          }
          Scatter(rows[static_cast<size_t>(y)], spread.data(), in_row, out + b * image);
        }
      }
    });
    return OkStatus();
  }

 private:
  // Adds an item of n numbers, by weight, to the items of the span.
  static void Scatter(const Span& span, const float* item, int64_t n, float* items) {
    float* to = items + span.first * n;
    for (const float w : span.weight) {
      for (int64_t i = 0; i < n; ++i) to[i] += item[i] * w;
      to += n;
    }
  }
};

}  // namespace

void RegisterImageScaleKernels(KernelRegistry& r) {
  r.Add<ScaleAndTranslateKernel>("ScaleAndTranslate", {{"T", kPixelTypes}}, ElementCost<10'000>);
  r.Add<ScaleAndTranslateGradKernel>("ScaleAndTranslateGrad", {}, ElementCost<10'000>);
}

}  // namespace tensorbraid::cpu
