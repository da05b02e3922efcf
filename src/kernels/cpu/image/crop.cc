// Kernels that crop images: CropAndResize and its gradients, ExtractGlimpse and RandomCrop.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/system/env.h"
#include "core/values/tensor_limit.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/image/floats.h"
#include "kernels/cpu/random/distributions.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Boxes [n, 4] of (y1, x1, y2, x2), relative to the sides of the images, and the index of the image of each box.
struct Boxes {
  int64_t count = 0;
  const float* coordinates = nullptr;
  const int32_t* image = nullptr;
};

StatusOr<Boxes> BoxesOf(const Tensor& boxes, const Tensor& images, int64_t batch) {
  const bool none = boxes.shape().rank() == 2 && boxes.num_elements() == 0 && images.num_elements() == 0;
  if (boxes.shape().rank() != 2 || (boxes.shape().dim(1) != 4 && !none)) {
    return InvalidArgument("boxes must have shape [n, 4], got ", boxes.shape());
  }
  const int64_t n = none ? 0 : boxes.shape().dim(0);
  if (images.shape() != Shape({n})) {
    return InvalidArgument("box_ind must have one element for each of the ", n, " boxes, got shape ", images.shape());
  }
  for (const int32_t i : images.data<int32_t>()) {
    if (i < 0 || i >= batch) {
      return absl::OutOfRangeError(
          StrCat("box_ind has the value ", i, ", which is not an image in a batch of ", batch));
    }
  }
  return Boxes{n, boxes.data<float>().data(), images.data<int32_t>().data()};
}

Status CheckFinite(const Boxes& boxes) {
  for (int64_t i = 0; i < 4 * boxes.count; ++i) {
    if (!std::isfinite(boxes.coordinates[i])) {
      return InvalidArgument("Boxes contains at least one element that is not finite: box ", i / 4, " has ",
                             boxes.coordinates[i]);
    }
  }
  return OkStatus();
}

// Positions in an image along one dimension of a crop.
struct CropAxis {
  float first = 0, step = 0;
  float last_pixel = 0;

  // `from` and `to` are coordinates of the box, `in` and `crop` the sizes of the image and of the crop.
  CropAxis(float from, float to, int64_t in, int64_t crop) : last_pixel(static_cast<float>(in - 1)) {
    if (crop > 1) {
      step = (to - from) * last_pixel / static_cast<float>(crop - 1);
      first = from * last_pixel;
    } else {
      first = 0.5f * (from + to) * last_pixel;
    }
  }
  float At(int64_t i) const { return first + static_cast<float>(i) * step; }
  // Whether the position is in the image; false for NaN.
  bool Has(float position) const { return position >= 0 && position <= last_pixel; }
};

// The four pixels around a position in an image, and the weights of the bottom and right ones. The numbers of the
// pixels are limited to the image, because in float32 the last one of a very long side may be rounded up.
struct Pixels4 {
  int64_t top, bottom, left, right;
  float y_lerp, x_lerp;
  Pixels4(float y, float x, int64_t height, int64_t width)
      : top(std::min(static_cast<int64_t>(std::floor(y)), height - 1)),
        bottom(std::min(static_cast<int64_t>(std::ceil(y)), height - 1)),
        left(std::min(static_cast<int64_t>(std::floor(x)), width - 1)),
        right(std::min(static_cast<int64_t>(std::ceil(x)), width - 1)),
        y_lerp(y - std::floor(y)),
        x_lerp(x - std::floor(x)) {}
};

// The number of the pixel nearest to a position.
int64_t NearestPixel(float y, float x, int64_t height, int64_t width) {
  return std::min(static_cast<int64_t>(std::round(y)), height - 1) * width +
         std::min(static_cast<int64_t>(std::round(x)), width - 1);
}

Status CheckBatchOfImages(const char* what, const Shape& shape) {
  if (shape.rank() != 4) {
    return InvalidArgument(what, " must have shape [batch, height, width, depth], got ", shape);
  }
  if (shape.dim(1) <= 0 || shape.dim(2) <= 0 || shape.dim(1) > INT32_MAX || shape.dim(2) > INT32_MAX) {
    return InvalidArgument(what, " must have images that are not empty, got shape ", shape);
  }
  return OkStatus();
}

class CropAndResizeKernel final : public Kernel {
 public:
  explicit CropAndResizeKernel(const KernelConstruction& c)
      : nearest_(c.attr<std::string>("method") == "nearest"), outside_(c.attr<float>("extrapolation_value")) {}

  Status Compute(KernelContext& ctx) override {
    const Shape& shape = ctx.input(0).shape();
    TF_RETURN_IF_ERROR(CheckBatchOfImages("image", shape));
    const Tensor& size = ctx.input(3);
    if (size.shape() != Shape({2})) return InvalidArgument("crop_size must have shape [2], got ", size.shape());
    const int64_t crop_height = size.data<int32_t>()[0], crop_width = size.data<int32_t>()[1];
    if (crop_height <= 0 || crop_width <= 0) {
      return InvalidArgument("crop_size must be positive, got ", size.ToString());
    }
    const int64_t height = shape.dim(1), width = shape.dim(2), depth = shape.dim(3);
    const Shape& all =
        ctx.input(1).shape();  // before the indices of images are checked, so that sizes are refused first
    TF_RETURN_IF_ERROR(CheckTensorSize(kFloat32, {all.rank() > 0 ? all.dim(0) : 0, crop_height, crop_width, depth}));
    TF_ASSIGN_OR_RETURN(const Boxes boxes, BoxesOf(ctx.input(1), ctx.input(2), shape.dim(0)));
    TF_RETURN_IF_ERROR(CheckFinite(boxes));
    TF_ASSIGN_OR_RETURN(Tensor * result, ctx.AllocateOutput(0, {boxes.count, crop_height, crop_width, depth}));
    if (result->num_elements() == 0) return OkStatus();  // the crops may be huge
    TF_ASSIGN_OR_RETURN(const Tensor wide, WidenToFloat(ctx, ctx.input(0)));
    const float* images = wide.data<float>().data();
    float* out = result->inplace_data<float>().data();
    const double cost = static_cast<double>(crop_width) * (4 + 2.0 * static_cast<double>(depth));
    Parallel(ctx, boxes.count * crop_height, cost, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t b = row / crop_height;
        const float* box = boxes.coordinates + 4 * b;
        const CropAxis ys(box[0], box[2], height, crop_height), xs(box[1], box[3], width, crop_width);
        const float* image = images + boxes.image[b] * height * width * depth;
        float* to = out + row * crop_width * depth;
        const float y = ys.At(row % crop_height);
        for (int64_t i = 0; i < crop_width; ++i, to += depth) {
          const float x = xs.At(i);
          if (!ys.Has(y) || !xs.Has(x)) {
            std::fill_n(to, depth, outside_);
          } else if (nearest_) {
            const int64_t at = NearestPixel(y, x, height, width);
            std::copy_n(image + at * depth, depth, to);
          } else {
            Interpolate(image, Pixels4(y, x, height, width), width, depth, to);
          }
        }
      }
    });
    return OkStatus();
  }

 private:
  static void Interpolate(const float* image, const Pixels4& p, int64_t width, int64_t depth, float* out) {
    const float* top = image + p.top * width * depth;
    const float* bottom = image + p.bottom * width * depth;
    for (int64_t c = 0; c < depth; ++c) {
      const int64_t l = p.left * depth + c, r = p.right * depth + c;
      const float t = top[l] + (top[r] - top[l]) * p.x_lerp;
      const float b = bottom[l] + (bottom[r] - bottom[l]) * p.x_lerp;
      out[c] = t + (b - t) * p.y_lerp;
    }
  }

  const bool nearest_;
  const float outside_;
};

// Checks the shape of the gradients of the crops: [n, crop height, crop width, depth].
Status CheckCropGrads(const Shape& grads, const Boxes& boxes, int64_t depth) {
  if (grads.rank() != 4 || grads.dim(0) != boxes.count || grads.dim(3) != depth) {
    return InvalidArgument("grads must have shape [", boxes.count, ", crop height, crop width, ", depth, "], got ",
                           grads);
  }
  if (grads.dim(1) <= 0 || grads.dim(2) <= 0) return InvalidArgument("grads must not be empty, got shape ", grads);
  return OkStatus();
}

// Adds the gradients of the crops to `sums`, the gradient of the images. Boxes may overlap, so they are processed one
// after the other, in a fixed order.
template <typename A>
void SumCropGrads(const Boxes& boxes, const Shape& grads_shape, const float* grads, bool nearest, const Shape& image,
                  A* sums) {
  const int64_t height = image.dim(1), width = image.dim(2), depth = image.dim(3);
  if (depth == 0) return;  // the crops may be huge
  for (int64_t b = 0; b < boxes.count; ++b) {
    const float* box = boxes.coordinates + 4 * b;
    const CropAxis ys(box[0], box[2], height, grads_shape.dim(1)), xs(box[1], box[3], width, grads_shape.dim(2));
    A* to = sums + boxes.image[b] * height * width * depth;
    for (int64_t j = 0; j < grads_shape.dim(1); ++j) {
      const float y = ys.At(j);
      for (int64_t i = 0; i < grads_shape.dim(2); ++i, grads += depth) {
        const float x = xs.At(i);
        if (!ys.Has(y) || !xs.Has(x)) continue;
        if (nearest) {
          const int64_t at = NearestPixel(y, x, height, width);
          for (int64_t c = 0; c < depth; ++c) to[at * depth + c] += static_cast<A>(grads[c]);
          continue;
        }
        const Pixels4 p(y, x, height, width);
        for (int64_t c = 0; c < depth; ++c) {
          const float top = (1 - p.y_lerp) * grads[c], bottom = p.y_lerp * grads[c];
          to[(p.top * width + p.left) * depth + c] += static_cast<A>((1 - p.x_lerp) * top);
          to[(p.top * width + p.right) * depth + c] += static_cast<A>(p.x_lerp * top);
          to[(p.bottom * width + p.left) * depth + c] += static_cast<A>((1 - p.x_lerp) * bottom);
          to[(p.bottom * width + p.right) * depth + c] += static_cast<A>(p.x_lerp * bottom);
        }
      }
    }
  }
}

class CropAndResizeGradImageKernel final : public Kernel {
 public:
  explicit CropAndResizeGradImageKernel(const KernelConstruction& c)
      : nearest_(c.attr<std::string>("method") == "nearest") {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& size = ctx.input(3);
    if (size.shape() != Shape({4})) return InvalidArgument("image_size must have shape [4], got ", size.shape());
    Shape image;
    for (const int32_t v : size.data<int32_t>()) {
      if (v < 0) return InvalidArgument("image_size must not be negative, got ", size.ToString());
      image.AddDim(v);
    }
    TF_RETURN_IF_ERROR(CheckBatchOfImages("image_size", image));
    TF_ASSIGN_OR_RETURN(const Boxes boxes, BoxesOf(ctx.input(1), ctx.input(2), image.dim(0)));
    const Shape& grads = ctx.input(0).shape();
    TF_RETURN_IF_ERROR(CheckCropGrads(grads, boxes, image.dim(3)));
    const float* from = ctx.input(0).data<float>().data();
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, image));
    if (out->dtype() == kFloat64) {
      Run(boxes, grads, from, image, out->inplace_data<double>());
    } else if (out->dtype() == kFloat32) {
      Run(boxes, grads, from, image, out->inplace_data<float>());
    } else {
      TF_ASSIGN_OR_RETURN(Tensor sums, ctx.AllocateTemp(kFloat32, image));
      Run(boxes, grads, from, image, sums.inplace_data<float>());
      NarrowFromFloat(sums.data<float>().data(), sums.num_elements(), out);
    }
    return OkStatus();
  }

 private:
  template <typename A>
  void Run(const Boxes& boxes, const Shape& grads, const float* from, const Shape& image, std::span<A> sums) const {
    std::fill(sums.begin(), sums.end(), A(0));
    SumCropGrads(boxes, grads, from, nearest_, image, sums.data());
  }

  const bool nearest_;
};

Status CropAndResizeGradBoxes(KernelContext& ctx) {
  const Shape& shape = ctx.input(1).shape();
  TF_RETURN_IF_ERROR(CheckBatchOfImages("image", shape));
  TF_ASSIGN_OR_RETURN(const Boxes boxes, BoxesOf(ctx.input(2), ctx.input(3), shape.dim(0)));
  const Shape& grads_shape = ctx.input(0).shape();
  const int64_t height = shape.dim(1), width = shape.dim(2), depth = shape.dim(3);
  TF_RETURN_IF_ERROR(CheckCropGrads(grads_shape, boxes, depth));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {boxes.count, 4}));
  TF_ASSIGN_OR_RETURN(const Tensor wide, WidenToFloat(ctx, ctx.input(1)));
  const float* images = wide.data<float>().data();
  const float* grads = ctx.input(0).data<float>().data();
  float* to = out->inplace_data<float>().data();
  if (depth == 0) {  // the crops may be huge
    std::fill_n(to, out->num_elements(), 0.0f);
    return OkStatus();
  }
  const int64_t crop_height = grads_shape.dim(1), crop_width = grads_shape.dim(2);
  const int64_t crop = crop_height * crop_width * depth;
  const auto row_ratio = crop_height > 1 ? static_cast<float>(height - 1) / static_cast<float>(crop_height - 1) : 0.0f;
  const auto column_ratio = crop_width > 1 ? static_cast<float>(width - 1) / static_cast<float>(crop_width - 1) : 0.0f;
  Parallel(ctx, boxes.count, 5.0 * static_cast<double>(crop), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const float* box = boxes.coordinates + 4 * b;
      const CropAxis ys(box[0], box[2], height, crop_height), xs(box[1], box[3], width, crop_width);
      const float* image = images + boxes.image[b] * height * width * depth;
      float sums[4] = {};
      for (int64_t j = 0; j < crop_height; ++j) {
        const float y = ys.At(j);
        for (int64_t i = 0; i < crop_width; ++i) {
          const float x = xs.At(i);
          if (!ys.Has(y) || !xs.Has(x)) continue;
          const Pixels4 p(y, x, height, width);
          const float* grad = grads + ((b * crop_height + j) * crop_width + i) * depth;
          // The sums over the channels of the gradient times the derivative of the interpolated pixel by y and by x.
          float by_y = 0, by_x = 0;
          for (int64_t c = 0; c < depth; ++c) {
            const float tl = image[(p.top * width + p.left) * depth + c];
            const float tr = image[(p.top * width + p.right) * depth + c];
            const float bl = image[(p.bottom * width + p.left) * depth + c];
            const float br = image[(p.bottom * width + p.right) * depth + c];
            by_y += grad[c] * ((1 - p.x_lerp) * (bl - tl) + p.x_lerp * (br - tr));
            by_x += grad[c] * ((1 - p.y_lerp) * (tr - tl) + p.y_lerp * (br - bl));
          }
          if (crop_height > 1) {
            sums[0] += by_y * (static_cast<float>(height - 1) - static_cast<float>(j) * row_ratio);
            sums[2] += by_y * static_cast<float>(j) * row_ratio;
          } else {
            sums[0] += by_y * 0.5f * static_cast<float>(height - 1);
            sums[2] += by_y * 0.5f * static_cast<float>(height - 1);
          }
          if (crop_width > 1) {
            sums[1] += by_x * (static_cast<float>(width - 1) - static_cast<float>(i) * column_ratio);
            sums[3] += by_x * static_cast<float>(i) * column_ratio;
          } else {
            sums[1] += by_x * 0.5f * static_cast<float>(width - 1);
            sums[3] += by_x * 0.5f * static_cast<float>(width - 1);
          }
        }
      }
      std::copy_n(sums, 4, to + 4 * b);
    }
  });
  return OkStatus();
}

// Takes windows of the images. Pixels outside of an image are noise, which is different in each run because the ops
// have no seed.
class GlimpseKernel final : public Kernel {
 public:
  explicit GlimpseKernel(const KernelConstruction& c)
      : version_(c.node().op().name == "ExtractGlimpseV2" ? 2 : 1),
        centered_(c.attr<bool>("centered")),
        normalized_(c.attr<bool>("normalized")),
        uniform_noise_(c.attr<bool>("uniform_noise")),
        noise_(c.attr<std::string>("noise")) {}

  Status Compute(KernelContext& ctx) override {
    if (noise_ != "uniform" && noise_ != "gaussian" && noise_ != "zero") {
      return InvalidArgument("noise must be 'uniform', 'gaussian' or 'zero', got '", noise_, "'");
    }
    if (uniform_noise_ && noise_ != "uniform") {
      return InvalidArgument("uniform_noise must be false if noise is '", noise_, "'");
    }
    const Tensor& input = ctx.input(0);
    const Shape& shape = input.shape();
    if (shape.rank() != 4) {
      return InvalidArgument("input must have shape [batch, height, width, channels], got ", shape);
    }
    const Tensor& size = ctx.input(1);
    if (size.shape() != Shape({2})) return InvalidArgument("size must have shape [2], got ", size.shape());
    const int64_t glimpse_height = size.data<int32_t>()[0], glimpse_width = size.data<int32_t>()[1];
    if (glimpse_height < 0 || glimpse_width < 0) {
      return InvalidArgument("size must not be negative, got ", size.ToString());
    }
    if (ctx.input(2).shape() != Shape({shape.dim(0), 2})) {
      return InvalidArgument("offsets must have shape [", shape.dim(0), ", 2], got ", ctx.input(2).shape());
    }
    const auto offsets = ctx.input(2).data<float>();
    const int64_t height = shape.dim(1), width = shape.dim(2), channels = shape.dim(3);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {shape.dim(0), glimpse_height, glimpse_width, channels}));
    if (out->num_elements() == 0) return OkStatus();  // without channels, the glimpses may be huge
    const float* in = input.data<float>().data();
    float* to = out->inplace_data<float>().data();
    PhiloxReader random(Philox(RandomSeed(), RandomSeed()));
    for (int64_t b = 0; b < shape.dim(0); ++b) {
      const int64_t top = Start(offsets[static_cast<size_t>(2 * b)], height, glimpse_height);
      const int64_t left = Start(offsets[static_cast<size_t>(2 * b + 1)], width, glimpse_width);
      const float* image = in + b * height * width * channels;
      const auto [low, high] = Range(image, height * width * channels);
      for (int64_t y = top; y < top + glimpse_height; ++y) {
        for (int64_t x = left; x < left + glimpse_width; ++x, to += channels) {
          if (y >= 0 && y < height && x >= 0 && x < width) {
            std::copy_n(image + (y * width + x) * channels, channels, to);
          } else {
            for (int64_t c = 0; c < channels; ++c) to[c] = Noise(random, low, high);
          }
        }
      }
    }
    return OkStatus();
  }

 private:
  // The first position of the glimpse along a dimension, which may lie outside of the image.
  int64_t Start(float offset, int64_t size, int64_t glimpse) const {
    auto at = static_cast<double>(offset);
    const auto in = static_cast<double>(size), window = static_cast<double>(glimpse);
    if (version_ == 1) {
      // With coordinates that are not normalized, version 1 uses a center that is not the image's center.
      if (normalized_) at *= in;
      if (centered_) at = at / 2 + in / 2;
      at -= window / 2;
    } else {
      if (normalized_) at *= in;
      if (centered_) {
        at = normalized_ ? at / 2 + in / 2 - window / 2 : at + in / 2;
      }
    }
    constexpr double kFar = 1e15;  // no further, so that sums of positions cannot overflow
    return std::isfinite(at) ? static_cast<int64_t>(std::clamp(at, -kFar, kFar)) : -int64_t{1} << 50;
  }

  std::pair<float, float> Range(const float* image, int64_t n) const {
    if (noise_ != "uniform" || n == 0) return {0.0f, 1.0f};
    const auto [low, high] = std::minmax_element(image, image + n);
    return {*low, *high};
  }

  float Noise(PhiloxReader& random, float low, float high) const {
    if (noise_ == "zero") return 0;
    if (noise_ == "uniform") return low + UnitFloat(random.Next32()) * (high - low);
    float values[2];
    const float u = UnitFloat(random.Next32());
    Normal(u, UnitFloat(random.Next32()), values);
    return values[0];
  }

  const int version_;
  const bool centered_, normalized_, uniform_noise_;
  const std::string noise_;
};

class RandomCropKernel final : public Kernel, public StatefulKernel {
 public:
  explicit RandomCropKernel(const KernelConstruction& c) : generator_(c) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& image = ctx.input(0);
    const Shape& shape = image.shape();
    if (shape.rank() != 3) return InvalidArgument("image must have shape [height, width, channels], got ", shape);
    if (ctx.input(1).shape() != Shape({2})) {
      return InvalidArgument("size must have shape [2], got ", ctx.input(1).shape());
    }
    const int64_t height = ctx.input(1).data<int64_t>()[0], width = ctx.input(1).data<int64_t>()[1];
    if (height < 0 || width < 0 || height > shape.dim(0) || width > shape.dim(1)) {
      return InvalidArgument("cannot crop ", height, " x ", width, " pixels of an image of shape ", shape);
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {height, width, shape.dim(2)}));
    PhiloxReader random(generator_.philox(), generator_.Reserve(1));
    const auto start = [&](int64_t in, int64_t crop) {
      const auto places = static_cast<uint32_t>(std::min<int64_t>(in - crop + 1, UINT32_MAX));
      return in == crop ? int64_t{0} : int64_t{random.NextBelow32(places)};
    };
    const int64_t left = start(shape.dim(1), width);  // first `left`, then `top`, as TensorFlow draws them
    const int64_t top = start(shape.dim(0), height);
    const int64_t pixel = shape.dim(2) * static_cast<int64_t>(DTypeSize(image.dtype()));
    const auto* from = static_cast<const char*>(image.raw_data());
    auto* to = static_cast<char*>(out->inplace_raw_data());
    if (out->num_elements() == 0) return OkStatus();
    for (int64_t y = 0; y < height; ++y) {
      std::memcpy(to + y * width * pixel, from + ((top + y) * shape.dim(1) + left) * pixel,
                  static_cast<size_t>(width * pixel));
    }
    return OkStatus();
  }

  KernelState* state() override { return &generator_; }

 private:
  Generator generator_;
};

}  // namespace

void RegisterImageCropKernels(KernelRegistry& r) {
  // These are kPixelTypes without bfloat16, which the ops do not allow.
  constexpr DTypeSet kTypes = {kInt8, kUint8, kInt16, kUint16, kInt32, kInt64, kFloat16, kFloat32, kFloat64};
  r.Add<CropAndResizeKernel>("CropAndResize", {{"T", kTypes}}, ElementCost<2'000>);
  r.Add<CropAndResizeGradImageKernel>("CropAndResizeGradImage", {}, ElementCost<4'000>);
  r.Add("CropAndResizeGradBoxes", {{"T", kTypes}}, CropAndResizeGradBoxes, ElementCost<5'000>);
  r.Add<GlimpseKernel>("ExtractGlimpse", {}, ElementCost<3'000>);
  r.Add<GlimpseKernel>("ExtractGlimpseV2", {}, ElementCost<3'000>);
  r.Add<RandomCropKernel>("RandomCrop");
}

}  // namespace tensorbraid::cpu
