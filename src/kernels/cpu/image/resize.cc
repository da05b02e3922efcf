// Kernels that resize images. Positions are computed in float32 step by step as in TensorFlow, so that every output
// pixel is interpolated from the same input pixels.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/image/floats.h"
#include "kernels/cpu/image/resize_axis.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

struct ResizeGeometry {
  int64_t batch = 0, channels = 0;
  ResizeAxis y, x;
};

struct ResizeFlags {
  bool align_corners = false, half_pixel = false;
  Status status;
  explicit ResizeFlags(const Node& node) : align_corners(node.attr<bool>("align_corners")) {
    if (node.FindAttr("half_pixel_centers") != nullptr) half_pixel = node.attr<bool>("half_pixel_centers");
    if (align_corners && half_pixel) {
      status = InvalidArgument("align_corners and half_pixel_centers cannot both be true");
    }
  }
};

// Sides and pixel numbers must fit in 32 bits, as in TensorFlow, so that positions in float32 stay meaningful.
bool FitsInt(int64_t v) { return v <= std::numeric_limits<int32_t>::max(); }

StatusOr<std::array<int64_t, 2>> SizeInput(const Tensor& size) {
  if (size.shape() != Shape({2})) return InvalidArgument("size must have shape [2], got ", size.shape());
  const auto v = size.data<int32_t>();
  if (v[0] <= 0 || v[1] <= 0) return InvalidArgument("size must be positive, got ", size.ToString());
  return std::array<int64_t, 2>{v[0], v[1]};
}

Status CheckImages(const char* what, const Shape& shape) {
  if (shape.rank() != 4) {
    return InvalidArgument(what, " must have shape [batch, height, width, channels], got ", shape);
  }
  for (int i = 0; i < 4; ++i) {
    if (!FitsInt(shape.dim(i))) return InvalidArgument(what, " is too large: ", shape);
    if (i > 0 && shape.dim(i) == 0) {
      return InvalidArgument(what, ": input image must be of non-zero size, got shape ", shape);
    }
  }
  return OkStatus();
}

// The geometry of an op that resizes input 0 to the size in input 1.
StatusOr<ResizeGeometry> ForwardGeometry(const KernelContext& ctx, const ResizeFlags& flags) {
  TF_RETURN_IF_ERROR(flags.status);
  const Shape& images = ctx.input(0).shape();
  TF_RETURN_IF_ERROR(CheckImages("images", images));
  TF_ASSIGN_OR_RETURN(const auto size, SizeInput(ctx.input(1)));
  return ResizeGeometry{images.dim(0), images.dim(3),
                        MakeResizeAxis(images.dim(1), size[0], flags.align_corners, flags.half_pixel),
                        MakeResizeAxis(images.dim(2), size[1], flags.align_corners, flags.half_pixel)};
}

// The geometry of a gradient op, which has the gradients of the output in input 0 and the images in input 1.
StatusOr<ResizeGeometry> BackwardGeometry(const KernelContext& ctx, const ResizeFlags& flags) {
  TF_RETURN_IF_ERROR(flags.status);
  const Shape& grads = ctx.input(0).shape();
  const Shape& images = ctx.input(1).shape();
  TF_RETURN_IF_ERROR(CheckImages("grads", grads));
  TF_RETURN_IF_ERROR(CheckImages("original_image", images));
  if (grads.dim(0) != images.dim(0) || grads.dim(3) != images.dim(3)) {
    return InvalidArgument("grads and original_image must have the same batch size and channels, got shapes ", grads,
                           " and ", images);
  }
  return ResizeGeometry{images.dim(0), images.dim(3),
                        MakeResizeAxis(images.dim(1), grads.dim(1), flags.align_corners, flags.half_pixel),
                        MakeResizeAxis(images.dim(2), grads.dim(2), flags.align_corners, flags.half_pixel)};
}

// The shape of the output. Memory limits its rows and columns only if it has elements. So if the batch is empty,
// kernels must return before they make tables of rows and columns.
Shape OutputShape(const ResizeGeometry& g) { return {g.batch, g.y.out, g.x.out, g.channels}; }

void BilinearRow(const float* top, const float* bottom, float y_lerp, const std::vector<Between>& xs, int64_t channels,
                 float* out) {
  for (const Between& x : xs) {
    const int64_t left = x.lower * channels, right = x.upper * channels;
    for (int64_t c = 0; c < channels; ++c) {
      const float t = top[left + c] + (top[right + c] - top[left + c]) * x.lerp;
      const float b = bottom[left + c] + (bottom[right + c] - bottom[left + c]) * x.lerp;
      *out++ = t + (b - t) * y_lerp;
    }
  }
}

void Bilinear(KernelContext& ctx, const ResizeGeometry& g, const float* images, float* out) {
  const std::vector<Between> xs = BetweenAll(g.x);
  const int64_t in_row = g.x.in * g.channels, out_row = g.x.out * g.channels;
  Parallel(ctx, g.batch * g.y.out, 1.5 * static_cast<double>(out_row), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* image = images + row / g.y.out * g.y.in * in_row;
      const Between y = BetweenAt(g.y, row % g.y.out);
      BilinearRow(image + y.lower * in_row, image + y.upper * in_row, y.lerp, xs, g.channels, out + row * out_row);
    }
  });
}

class BilinearKernel final : public Kernel {
 public:
  explicit BilinearKernel(const KernelConstruction& c) : flags_(c.node()) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const ResizeGeometry g, ForwardGeometry(ctx, flags_));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, OutputShape(g)));
    if (out->num_elements() == 0) return OkStatus();
    TF_ASSIGN_OR_RETURN(const Tensor images, WidenToFloat(ctx, ctx.input(0)));
    Bilinear(ctx, g, images.data<float>().data(), out->inplace_data<float>().data());
    return OkStatus();
  }

 private:
  const ResizeFlags flags_;
};

// Adds the contributions of the gradients of one output image to `sums`, which has the size of an input image.
template <typename A>
void BilinearImageGrad(const ResizeGeometry& g, const std::vector<Between>& xs, const float* grads, A* sums) {
  const int64_t row = g.x.in * g.channels;
  for (int64_t i = 0; i < g.y.out; ++i) {
    const Between y = BetweenAt(g.y, i);
    A* const top = sums + y.lower * row;
    A* const bottom = sums + y.upper * row;
    for (const Between& x : xs) {
      const int64_t left = x.lower * g.channels, right = x.upper * g.channels;
      for (int64_t c = 0; c < g.channels; ++c) {
        const float grad = *grads++;
        top[left + c] += static_cast<A>(grad * (1 - y.lerp) * (1 - x.lerp));
        top[right + c] += static_cast<A>(grad * (1 - y.lerp) * x.lerp);
        bottom[left + c] += static_cast<A>(grad * y.lerp * (1 - x.lerp));
        bottom[right + c] += static_cast<A>(grad * y.lerp * x.lerp);
      }
    }
  }
}

// The four input positions that a cubic interpolation reads, and their weights.
struct Cubic {
  std::array<int64_t, 4> at;
  std::array<float, 4> weight;
};

// Keys' cubic kernel at a distance of x in [0, 1] and of 1 + x, with a = -0.5 (half_pixel) or -0.75.
float NearCubic(float x, float a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
float FarCubic(float x, float a) {
  x += 1;
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

Cubic CubicAt(const ResizeAxis& axis, int64_t i) {
  constexpr int kSteps = 1024;  // TensorFlow's table has the weights of this many positions between pixels
  const float a = axis.half_pixel ? -0.5f : -0.75f;
  const float position = axis.Position(i);
  const auto base = static_cast<int64_t>(std::floor(position));
  const auto step = static_cast<int>(std::lrint((position - static_cast<float>(base)) * kSteps));
  const float before = static_cast<float>(step) / kSteps, after = static_cast<float>(kSteps - step) / kSteps;
  Cubic cubic{{}, {FarCubic(before, a), NearCubic(before, a), NearCubic(after, a), FarCubic(after, a)}};
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    const int64_t at = base - 1 + k;
    cubic.at[k] = std::clamp<int64_t>(at, 0, axis.in - 1);
    if (axis.half_pixel && cubic.at[k] != at) cubic.weight[k] = 0;
    sum += cubic.weight[k];
  }
  // With half_pixel, pixels outside of the image have no weight, so the other weights are scaled to a sum of 1.
  if (axis.half_pixel && std::abs(sum) >= 1000 * std::numeric_limits<float>::min()) {
    const float norm = 1.0f / sum;
    for (float& w : cubic.weight) w *= norm;
  }
  return cubic;
}

std::vector<Cubic> CubicAll(const ResizeAxis& axis) {
  std::vector<Cubic> all(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) all[static_cast<size_t>(i)] = CubicAt(axis, i);
  return all;
}

class BicubicKernel final : public Kernel {
 public:
  explicit BicubicKernel(const KernelConstruction& c) : flags_(c.node()) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const ResizeGeometry g, ForwardGeometry(ctx, flags_));
    TF_ASSIGN_OR_RETURN(Tensor * result, ctx.AllocateOutput(0, OutputShape(g)));
    if (result->num_elements() == 0) return OkStatus();
    TF_ASSIGN_OR_RETURN(const Tensor wide, WidenToFloat(ctx, ctx.input(0)));
    const float* images = wide.data<float>().data();
    float* out = result->inplace_data<float>().data();
    const std::vector<Cubic> xs = CubicAll(g.x);
    const int64_t in_row = g.x.in * g.channels, out_row = g.x.out * g.channels;
    const double cost = 0.5 * static_cast<double>(in_row) + 2.0 * static_cast<double>(out_row);
    Parallel(ctx, g.batch * g.y.out, cost, [&](int64_t begin, int64_t end) {
      std::vector<float> blended(static_cast<size_t>(in_row));  // four rows become one
      for (int64_t row = begin; row < end; ++row) {
        const float* image = images + row / g.y.out * g.y.in * in_row;
        const Cubic y = CubicAt(g.y, row % g.y.out);
        const float *r0 = image + y.at[0] * in_row, *r1 = image + y.at[1] * in_row, *r2 = image + y.at[2] * in_row,
                    *r3 = image + y.at[3] * in_row;
        for (int64_t i = 0; i < in_row; ++i) {
          blended[static_cast<size_t>(i)] =
              r0[i] * y.weight[0] + r1[i] * y.weight[1] + r2[i] * y.weight[2] + r3[i] * y.weight[3];
        }
        float* to = out + row * out_row;
        for (const Cubic& x : xs) {
          for (int64_t c = 0; c < g.channels; ++c) {
            const float* from = blended.data() + c;
            *to++ = from[x.at[0] * g.channels] * x.weight[0] + from[x.at[1] * g.channels] * x.weight[1] +
                    from[x.at[2] * g.channels] * x.weight[2] + from[x.at[3] * g.channels] * x.weight[3];
          }
        }
      }
    });
    return OkStatus();
  }

 private:
  const ResizeFlags flags_;
};

template <typename A>
void BicubicImageGrad(const ResizeGeometry& g, const std::vector<Cubic>& xs, const float* grads, A* sums) {
  const int64_t row = g.x.in * g.channels;
  for (int64_t i = 0; i < g.y.out; ++i) {
    const Cubic y = CubicAt(g.y, i);
    for (const Cubic& x : xs) {
      for (int64_t c = 0; c < g.channels; ++c) {
        const float grad = *grads++;
        for (int j = 0; j < 4; ++j) {
          for (int k = 0; k < 4; ++k) {
            sums[y.at[j] * row + x.at[k] * g.channels + c] += static_cast<A>(grad * y.weight[j] * x.weight[k]);
          }
        }
      }
    }
  }
}

// Computes the gradient of the images. Threads share the images; within an image, the gradients are added in order. So
// results do not depend on the number of threads.
template <bool kBicubic>
class ResizeGradKernel final : public Kernel {
 public:
  explicit ResizeGradKernel(const KernelConstruction& c) : flags_(c.node()) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const ResizeGeometry g, BackwardGeometry(ctx, flags_));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(1).shape()));
    if (out->num_elements() == 0) return OkStatus();
    if (out->dtype() == kFloat64) {
      Sum<double>(ctx, g, out->inplace_data<double>().data());
    } else if (out->dtype() == kFloat32) {
      Sum<float>(ctx, g, out->inplace_data<float>().data());
    } else {
      TF_ASSIGN_OR_RETURN(Tensor sums, ctx.AllocateTemp(kFloat32, out->shape()));
      Sum<float>(ctx, g, sums.inplace_data<float>().data());
      NarrowFromFloat(sums.data<float>().data(), sums.num_elements(), out);
    }
    return OkStatus();
  }

 private:
  template <typename A>
  static void Sum(KernelContext& ctx, const ResizeGeometry& g, A* sums) {
    const int64_t in_image = g.y.in * g.x.in * g.channels, out_image = g.y.out * g.x.out * g.channels;
    const float* grads = ctx.input(0).data<float>().data();
    const auto xs = [&] {
      if constexpr (kBicubic) {
        return CubicAll(g.x);
      } else {
        return BetweenAll(g.x);
      }
    }();
    const double cost = (kBicubic ? 16.0 : 4.0) * static_cast<double>(out_image);
    Parallel(ctx, g.batch, cost, [&](int64_t begin, int64_t end) {
      std::fill(sums + begin * in_image, sums + end * in_image, A(0));
      for (int64_t b = begin; b < end; ++b) {
        if constexpr (kBicubic) {
          BicubicImageGrad(g, xs, grads + b * out_image, sums + b * in_image);
        } else {
          BilinearImageGrad(g, xs, grads + b * out_image, sums + b * in_image);
        }
      }
    });
  }

  const ResizeFlags flags_;
};

// The input position nearest to output position i.
int64_t NearestAt(const ResizeAxis& axis, bool align_corners, int64_t i) {
  const float position = axis.half_pixel ? (static_cast<float>(i) + 0.5f) * axis.scale : axis.Position(i);
  const float nearest = align_corners ? std::round(position) : std::floor(position);
  return std::clamp<int64_t>(static_cast<int64_t>(nearest), 0, axis.in - 1);
}

std::vector<int64_t> NearestAll(const ResizeAxis& axis, bool align_corners) {
  std::vector<int64_t> all(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) all[static_cast<size_t>(i)] = NearestAt(axis, align_corners, i);
  return all;
}

class NearestKernel final : public Kernel {
 public:
  explicit NearestKernel(const KernelConstruction& c) : flags_(c.node()) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const ResizeGeometry g, ForwardGeometry(ctx, flags_));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, OutputShape(g)));
    if (out->num_elements() == 0) return OkStatus();
    const std::vector<int64_t> xs = NearestAll(g.x, flags_.align_corners);
    const auto pixel = g.channels * static_cast<int64_t>(DTypeSize(out->dtype()));
    const int64_t in_row = g.x.in * pixel, out_row = g.x.out * pixel;
    const auto* images = static_cast<const char*>(ctx.input(0).raw_data());
    auto* to = static_cast<char*>(out->inplace_raw_data());
    Parallel(ctx, g.batch * g.y.out, 2.0 * static_cast<double>(g.x.out), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t y = NearestAt(g.y, flags_.align_corners, row % g.y.out);
        const char* from = images + (row / g.y.out * g.y.in + y) * in_row;
        char* pixels = to + row * out_row;
        for (const int64_t x : xs) {
          std::memcpy(pixels, from + x * pixel, static_cast<size_t>(pixel));
          pixels += pixel;
        }
      }
    });
    return OkStatus();
  }

 private:
  const ResizeFlags flags_;
};

template <typename T>
class NearestGradKernel final : public Kernel {
 public:
  explicit NearestGradKernel(const KernelConstruction& c) : flags_(c.node()) {}
  Status Compute(KernelContext& ctx) override {
    using A = ComputeType<T>;
    TF_RETURN_IF_ERROR(flags_.status);
    const Tensor& grads = ctx.input(0);
    const Shape& shape = grads.shape();
    TF_RETURN_IF_ERROR(CheckImages("grads", shape));
    TF_ASSIGN_OR_RETURN(const auto size, SizeInput(ctx.input(1)));
    const int64_t channels = shape.dim(3);
    const ResizeAxis y = MakeResizeAxis(size[0], shape.dim(1), flags_.align_corners, flags_.half_pixel);
    const ResizeAxis x = MakeResizeAxis(size[1], shape.dim(2), flags_.align_corners, flags_.half_pixel);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {shape.dim(0), y.in, x.in, channels}));
    if (out->num_elements() == 0) return OkStatus();
    const std::vector<int64_t> xs = NearestAll(x, flags_.align_corners);
    const int64_t in_row = x.in * channels, image = y.in * in_row;
    Tensor sums;
    A* to;
    if constexpr (kIsHalf<T>) {
      TF_ASSIGN_OR_RETURN(sums, ctx.AllocateTemp(kFloat32, out->shape()));
      to = sums.inplace_data<float>().data();
    } else {
      to = out->inplace_data<T>().data();
    }
    const T* const from = grads.data<T>().data();
    const int64_t out_image = y.out * x.out * channels;
    Parallel(ctx, shape.dim(0), 2.0 * static_cast<double>(out_image), [&](int64_t begin, int64_t end) {
      std::fill(to + begin * image, to + end * image, A(0));
      for (int64_t b = begin; b < end; ++b) {
        const T* grad = from + b * out_image;
        for (int64_t i = 0; i < y.out; ++i) {
          A* row = to + b * image + NearestAt(y, flags_.align_corners, i) * in_row;
          for (const int64_t column : xs) {
            for (int64_t c = 0; c < channels; ++c) {
              A& sum = row[column * channels + c];
              sum = Plus(sum, static_cast<A>(*grad++));
            }
          }
        }
      }
    });
    if constexpr (kIsHalf<T>) NarrowFromFloat(to, sums.num_elements(), out);
    return OkStatus();
  }

 private:
  const ResizeFlags flags_;
};

// The input positions [first, first + weight.size()) that an output position covers, and the covered part of each.
struct Covered {
  int64_t first = 0;
  std::vector<float> weight;
};

Covered CoveredAt(const ResizeAxis& axis, int64_t i) {
  if (axis.scale == 0) return {0, {1.0f}};  // corners are aligned, and the input has one position
  const float begin = static_cast<float>(i) * axis.scale, end = static_cast<float>(i + 1) * axis.scale;
  Covered covered{static_cast<int64_t>(std::floor(begin)), {}};
  for (int64_t k = covered.first; k < static_cast<int64_t>(std::ceil(end)); ++k) {
    const auto from = static_cast<float>(k), to = static_cast<float>(k + 1);
    covered.weight.push_back(from < begin ? (to > end ? axis.scale : to - begin) : (to > end ? end - from : 1.0f));
  }
  return covered;
}

class AreaKernel final : public Kernel {
 public:
  explicit AreaKernel(const KernelConstruction& c) : flags_(c.node()) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const ResizeGeometry g, ForwardGeometry(ctx, flags_));
    TF_ASSIGN_OR_RETURN(Tensor * result, ctx.AllocateOutput(0, OutputShape(g)));
    if (result->num_elements() == 0) return OkStatus();
    TF_ASSIGN_OR_RETURN(const Tensor wide, WidenToFloat(ctx, ctx.input(0)));
    const float* images = wide.data<float>().data();
    float* out = result->inplace_data<float>().data();
    std::vector<Covered> xs;
    for (int64_t i = 0; i < g.x.out; ++i) xs.push_back(CoveredAt(g.x, i));
    const auto covers = [](const ResizeAxis& axis) { return axis.scale == 0 ? 1.0f : axis.scale; };
    const float scale = 1.0f / (covers(g.y) * covers(g.x));
    const int64_t in_row = g.x.in * g.channels, out_row = g.x.out * g.channels;
    const double cost = static_cast<double>(in_row) * (std::max(g.y.scale, 1.0f) + 1.0) + static_cast<double>(out_row);
    Parallel(ctx, g.batch * g.y.out, cost, [&](int64_t begin, int64_t end) {
      std::vector<float> sums(static_cast<size_t>(in_row));  // of the rows that the output row covers
      for (int64_t row = begin; row < end; ++row) {
        const float* image = images + row / g.y.out * g.y.in * in_row;
        const Covered y = CoveredAt(g.y, row % g.y.out);
        std::fill(sums.begin(), sums.end(), 0.0f);
        for (size_t k = 0; k < y.weight.size(); ++k) {
          const float* from = image + std::min(y.first + static_cast<int64_t>(k), g.y.in - 1) * in_row;
          for (int64_t i = 0; i < in_row; ++i) sums[static_cast<size_t>(i)] += from[i] * y.weight[k];
        }
        float* to = out + row * out_row;
        for (const Covered& x : xs) {
          for (int64_t c = 0; c < g.channels; ++c) {
            float sum = 0;
            for (size_t k = 0; k < x.weight.size(); ++k) {
              const int64_t column = std::min(x.first + static_cast<int64_t>(k), g.x.in - 1);
              sum += sums[static_cast<size_t>(column * g.channels + c)] * x.weight[k];
            }
            *to++ = sum * scale;
          }
        }
      }
    });
    return OkStatus();
  }

 private:
  const ResizeFlags flags_;
};

// Interpolates the stored integers and rounds the result to the nearest integer. This is correct because the real
// numbers are an affine function of the stored integers.
class QuantizedBilinearKernel final : public Kernel {
 public:
  explicit QuantizedBilinearKernel(const KernelConstruction& c) : flags_(c.node()) {}
  Status Compute(KernelContext& ctx) override {
    for (int i = 2; i < 4; ++i) {
      if (!ctx.input(i).shape().is_scalar()) {
        return InvalidArgument("min and max must be scalars, got shape ", ctx.input(i).shape());
      }
    }
    TF_ASSIGN_OR_RETURN(const ResizeGeometry g, ForwardGeometry(ctx, flags_));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, OutputShape(g)));
    const Tensor& images = ctx.input(0);
    if (out->num_elements() == 0) {
      // There is nothing to compute.
    } else if (images.dtype() == kFloat32) {
      Bilinear(ctx, g, images.data<float>().data(), out->inplace_data<float>().data());
    } else if (images.dtype() == DType::kQuint8) {
      Integers<uint8_t>(ctx, g, images, out);
    } else {
      Integers<int32_t>(ctx, g, images, out);
    }
    ctx.set_output(1, ctx.input(2));
    ctx.set_output(2, ctx.input(3));
    return OkStatus();
  }

 private:
  template <typename T>
  static void Integers(KernelContext& ctx, const ResizeGeometry& g, const Tensor& images, Tensor* out) {
    const T* const in = images.data<T>().data();
    T* const to = out->inplace_data<T>().data();
    const int64_t in_row = g.x.in * g.channels, out_row = g.x.out * g.channels;
    Parallel(ctx, g.batch * g.y.out, 4.0 * static_cast<double>(out_row), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* image = in + row / g.y.out * g.y.in * in_row;
        const Between y = BetweenAt(g.y, row % g.y.out);
        for (int64_t i = 0; i < g.x.out; ++i) {
          const Between x = BetweenAt(g.x, i);
          for (int64_t c = 0; c < g.channels; ++c) {
            const auto at = [&](int64_t v, int64_t u) {
              return static_cast<double>(image[v * in_row + u * g.channels + c]);
            };
            const double t = at(y.lower, x.lower) + (at(y.lower, x.upper) - at(y.lower, x.lower)) * x.lerp;
            const double b = at(y.upper, x.lower) + (at(y.upper, x.upper) - at(y.upper, x.lower)) * x.lerp;
            to[row * out_row + i * g.channels + c] = static_cast<T>(std::llround(t + (b - t) * y.lerp));
          }
        }
      }
    });
  }

  const ResizeFlags flags_;
};

}  // namespace

void RegisterImageResizeKernels(KernelRegistry& r) {
  r.Add<BilinearKernel>("ResizeBilinear", {{"T", kPixelTypes}}, ElementCost<1'500>);
  r.Add<ResizeGradKernel</*kBicubic=*/false>>("ResizeBilinearGrad", {}, ElementCost<4'000>);
  r.Add<BicubicKernel>("ResizeBicubic", {{"T", kPixelTypes}}, ElementCost<3'000>);
  r.Add<ResizeGradKernel</*kBicubic=*/true>>("ResizeBicubicGrad", {}, ElementCost<16'000>);
  r.Add<NearestKernel>("ResizeNearestNeighbor");
  const auto add_grad = [&]<typename... T>(Types<T...>) {
    (r.Add<NearestGradKernel<T>>("ResizeNearestNeighborGrad", {{"T", {DTypeOf<T>::value}}}, ElementCost<2'000>), ...);
  };
  add_grad(Types<uint8_t, int8_t, int32_t, Float16, Bfloat16, float, double>{});
  r.Add<AreaKernel>("ResizeArea", {{"T", kPixelTypes}}, ElementCost<2'000>);
  r.Add<QuantizedBilinearKernel>("QuantizedResizeBilinear", {}, ElementCost<4'000>);
}

}  // namespace tensorbraid::cpu
