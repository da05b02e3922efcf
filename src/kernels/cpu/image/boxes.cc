// Kernels that draw bounding boxes, or sample random crops that cover them.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/random/distributions.h"
#include "kernels/cpu/random/streams.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The default colours as red, green, blue, alpha. Box i gets colour i modulo the number of colours.
constexpr float kBoxColors[][4] = {{1, 1, 0, 1},     {0, 0, 1, 1},   {1, 0, 0, 1},   {0, 1, 0, 1}, {0.5, 0, 0.5, 1},
                                   {0.5, 0.5, 0, 1}, {0.5, 0, 0, 1}, {0, 0, 0.5, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

// The pixels [low, high] that a box covers along a dimension of `size` pixels, before they are limited to the image.
struct BoxSide {
  int64_t low, high, size;
  BoxSide(float from, float to, int64_t n) : low(PixelAt(from, n)), high(PixelAt(to, n)), size(n) {}
  static int64_t PixelAt(float v, int64_t n) {
    const float at = v * static_cast<float>(n - 1);
    constexpr float kFar = 1e15f;
    return std::isnan(at) ? -1 : static_cast<int64_t>(std::clamp(at, -kFar, kFar));
  }
  bool visible() const { return low <= high && low < size && high >= 0; }
  int64_t first() const { return std::max<int64_t>(low, 0); }
  int64_t last() const { return std::min(high, size - 1); }
};

template <typename T>
void DrawBox(const BoxSide& rows, const BoxSide& columns, int64_t channels, const T* color, T* image) {
  const auto paint = [&](int64_t y, int64_t x) {
    std::copy_n(color, channels, image + (y * columns.size + x) * channels);
  };
  for (int64_t x = columns.first(); x <= columns.last(); ++x) {
    if (rows.low >= 0) paint(rows.low, x);
    if (rows.high < rows.size) paint(rows.high, x);
  }
  for (int64_t y = rows.first(); y <= rows.last(); ++y) {
    if (columns.low >= 0) paint(y, columns.low);
    if (columns.high < columns.size) paint(y, columns.high);
  }
}

template <typename T>
Status DrawBoundingBoxes(KernelContext& ctx) {
  const Tensor& images = ctx.input(0);
  const Shape& shape = images.shape();
  if (shape.rank() != 4) {
    return InvalidArgument("images must have shape [batch, height, width, channels], got ", shape);
  }
  const int64_t channels = shape.dim(3);
  if (channels != 1 && channels != 3 && channels != 4) {
    return InvalidArgument("images must have 1, 3 or 4 channels, got shape ", shape);
  }
  const Shape& boxes = ctx.input(1).shape();
  if (boxes.rank() != 3 || boxes.dim(0) != shape.dim(0) || boxes.dim(2) != 4) {
    return InvalidArgument("boxes must have shape [", shape.dim(0), ", n, 4], got ", boxes);
  }
  std::vector<std::array<T, 4>> colors;
  if (ctx.num_inputs() > 2 && ctx.input(2).num_elements() > 0) {
    const Shape& given = ctx.input(2).shape();
    if (given.rank() != 2 || given.dim(1) < channels) {
      return InvalidArgument("colors must have shape [n, ", channels, "] or more channels, got ", given);
    }
    const float* from = ctx.input(2).data<float>().data();
    for (int64_t i = 0; i < given.dim(0); ++i) {
      auto& color = colors.emplace_back();
      for (int64_t c = 0; c < channels; ++c) color[static_cast<size_t>(c)] = T(from[i * given.dim(1) + c]);
    }
  } else {
    for (const auto& rgba : kBoxColors) {
      auto& color = colors.emplace_back();
      // Grey images get white boxes.
      for (size_t c = 0; c < 4; ++c) color[c] = T(channels == 1 ? 1.0f : rgba[c]);
    }
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();  // a batch of empty images may be huge
  T* to = out->inplace_data<T>().data();
  std::copy_n(images.data<T>().data(), images.num_elements(), to);
  const float* box = ctx.input(1).data<float>().data();
  for (int64_t b = 0; b < shape.dim(0); ++b) {
    for (int64_t i = 0; i < boxes.dim(1); ++i, box += 4) {
      const BoxSide rows(box[0], box[2], shape.dim(1)), columns(box[1], box[3], shape.dim(2));
      if (!rows.visible() || !columns.visible()) continue;
      DrawBox(rows, columns, channels, colors[static_cast<size_t>(i) % colors.size()].data(),
              to + b * shape.dim(1) * shape.dim(2) * channels);
    }
  }
  return OkStatus();
}

struct Rectangle {
  int32_t left = 0, top = 0, right = 0, bottom = 0;
  int64_t area() const { return left < right && top < bottom ? int64_t{right - left} * (bottom - top) : 0; }
  Rectangle Intersect(const Rectangle& o) const {
    return {std::max(left, o.left), std::max(top, o.top), std::min(right, o.right), std::min(bottom, o.bottom)};
  }
};

struct CropRules {
  float min_covered = 0.1f;  // the part of at least one box that the crop must cover
  float min_aspect = 0.75f, max_aspect = 1.33f;
  float min_area = 0.05f, max_area = 1.0f;  // as parts of the area of the image
  int64_t max_attempts = 100;
};

// The limit of max_attempts. If no crop is possible, all attempts are made; so many attempts take less than a second.
constexpr int64_t kMostAttempts = 1'000'000;

int32_t Rounded(float v) { return static_cast<int32_t>(std::lrint(std::clamp(v, -1e9f, 1e9f))); }

// One attempt to find a crop of this aspect ratio. Draws the same random numbers as TensorFlow, in the same order.
std::optional<Rectangle> DrawCrop(int32_t width, int32_t height, const CropRules& rules, float aspect,
                                  PhiloxReader& random) {
  if (rules.max_area <= 0 || !(aspect > 0) || width <= 0 || height <= 0 || rules.min_area > rules.max_area) {
    return std::nullopt;
  }
  const float min_area = rules.min_area * static_cast<float>(width) * static_cast<float>(height);
  const float max_area = rules.max_area * static_cast<float>(width) * static_cast<float>(height);
  int32_t crop_height = Rounded(std::sqrt(min_area / aspect));
  int32_t max_height = Rounded(std::sqrt(max_area / aspect));
  if (Rounded(static_cast<float>(max_height) * aspect) > width) {
    // The largest height for which the width is not rounded up to more than `width`.
    constexpr float kLess = 0.0000001f;
    max_height = static_cast<int32_t>(std::min((static_cast<float>(width) + 0.5f - kLess) / aspect, 1e9f));
    if (Rounded(static_cast<float>(max_height) * aspect) > width) --max_height;
  }
  max_height = std::min(max_height, height);
  crop_height = std::min(crop_height, max_height);
  if (crop_height < max_height) {
    crop_height += static_cast<int32_t>(random.NextBelow32(static_cast<uint32_t>(max_height - crop_height + 1)));
  }
  int32_t crop_width = Rounded(static_cast<float>(crop_height) * aspect);
  const auto area = [&] { return static_cast<float>(crop_width) * static_cast<float>(crop_height); };
  // Rounding may have moved the area out of the limits.
  if (area() < min_area) crop_width = Rounded(static_cast<float>(++crop_height) * aspect);
  if (area() > max_area) crop_width = Rounded(static_cast<float>(--crop_height) * aspect);
  if (area() < min_area || area() > max_area || crop_width > width || crop_height > height || crop_width <= 0 ||
      crop_height <= 0) {
    return std::nullopt;
  }
  Rectangle crop;
  if (crop_height < height)
    crop.top = static_cast<int32_t>(random.NextBelow32(static_cast<uint32_t>(height - crop_height)));
  if (crop_width < width)
    crop.left = static_cast<int32_t>(random.NextBelow32(static_cast<uint32_t>(width - crop_width)));
  crop.right = crop.left + crop_width;
  crop.bottom = crop.top + crop_height;
  return crop;
}

bool Covers(const Rectangle& crop, const std::vector<Rectangle>& boxes, float min_covered) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const Rectangle& box) {
    return box.area() >= 1 && crop.area() >= 1 &&
           static_cast<float>(crop.Intersect(box).area()) / static_cast<float>(box.area()) >= min_covered;
  });
}

StatusOr<int32_t> SideOf(const Tensor& size, size_t i) {
  int64_t v = 0;
  switch (size.dtype()) {
    case DType::kUint8:
      v = size.data<uint8_t>()[i];
      break;
    case DType::kInt8:
      v = size.data<int8_t>()[i];
      break;
    case DType::kInt16:
      v = size.data<int16_t>()[i];
      break;
    case DType::kInt32:
      v = size.data<int32_t>()[i];
      break;
    default:
      v = size.data<int64_t>()[i];
  }
  constexpr int64_t kMaxSide = 1'000'000'000;
  if (v <= 0 || v > kMaxSide) {
    return InvalidArgument("image_size must have sides of 1 to ", kMaxSide, " pixels, got ", size.ToString());
  }
  return static_cast<int32_t>(v);
}

void SetNumber(Tensor* t, size_t i, int64_t v) {
  switch (t->dtype()) {
    case DType::kUint8:
      t->inplace_data<uint8_t>()[i] = static_cast<uint8_t>(v);
      break;
    case DType::kInt8:
      t->inplace_data<int8_t>()[i] = static_cast<int8_t>(v);
      break;
    case DType::kInt16:
      t->inplace_data<int16_t>()[i] = static_cast<int16_t>(v);
      break;
    case DType::kInt32:
      t->inplace_data<int32_t>()[i] = static_cast<int32_t>(v);
      break;
    default:
      t->inplace_data<int64_t>()[i] = v;
  }
}

// The boxes in `t` in pixels. If there are none and `image_if_none`, a single box around the image.
StatusOr<std::vector<Rectangle>> BoxesInPixels(const Tensor& t, int32_t height, int32_t width, bool image_if_none) {
  const Shape& shape = t.shape();
  if (shape.rank() != 3 || shape.dim(2) != 4) {
    return InvalidArgument("bounding_boxes must have shape [batch, n, 4], got ", shape);
  }
  if (t.num_elements() == 0) {
    if (image_if_none) return std::vector<Rectangle>{{0, 0, width, height}};
    return InvalidArgument(
        "there are no bounding boxes; set use_image_if_no_bounding_boxes to use the whole image then");
  }
  std::vector<Rectangle> boxes;
  const auto v = t.data<float>();
  for (size_t i = 0; i < v.size(); i += 4) {
    for (size_t k = i; k < i + 4; ++k) {
      if (!(v[k] >= 0 && v[k] <= 1)) {
        return InvalidArgument("coordinates of bounding boxes must be in [0, 1], got ", v[k]);
      }
    }
    if (v[i] >= v[i + 2] || v[i + 1] >= v[i + 3]) {
      return InvalidArgument("a bounding box [", v[i], ", ", v[i + 1], ", ", v[i + 2], ", ", v[i + 3],
                             "] is not [min y, min x, max y, max x]");
    }
    const auto pixel = [](float at, int32_t n) { return static_cast<int32_t>(at * static_cast<float>(n)); };
    boxes.push_back({pixel(v[i + 1], width), pixel(v[i], height), pixel(v[i + 3], width), pixel(v[i + 2], height)});
  }
  return boxes;
}

class SampleBoxKernel final : public Kernel, public StatefulKernel {
 public:
  explicit SampleBoxKernel(const KernelConstruction& c)
      : stateless_(c.node().FindAttr("seed") == nullptr),
        image_if_none_(c.attr<bool>("use_image_if_no_bounding_boxes")) {
    if (!stateless_) generator_.emplace(c);
    if (c.node().FindAttr("min_object_covered") != nullptr) rules_.min_covered = c.attr<float>("min_object_covered");
    const auto& aspect = c.attr<std::vector<float>>("aspect_ratio_range");
    const auto& area = c.attr<std::vector<float>>("area_range");
    rules_.max_attempts = c.attr<int64_t>("max_attempts");
    if (aspect.size() != 2 || !(aspect[0] > 0) || !(aspect[1] > 0)) {
      status_ = InvalidArgument("aspect_ratio_range must be two positive numbers");
    } else if (area.size() != 2 || !(area[0] > 0 && area[0] <= 1) || !(area[1] > 0 && area[1] <= 1)) {
      status_ = InvalidArgument("area_range must be two numbers in (0, 1]");
    } else if (rules_.max_attempts <= 0 || rules_.max_attempts > kMostAttempts) {
      status_ = InvalidArgument("max_attempts must be 1 to ", kMostAttempts, ", got ", rules_.max_attempts);
    } else {
      rules_.min_aspect = aspect[0];
      rules_.max_aspect = aspect[1];
      rules_.min_area = area[0];
      rules_.max_area = area[1];
    }
  }

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(status_);
    const Tensor& size = ctx.input(0);
    if (size.shape() != Shape({3})) return InvalidArgument("image_size must have shape [3], got ", size.shape());
    TF_ASSIGN_OR_RETURN(const int32_t height, SideOf(size, 0));
    TF_ASSIGN_OR_RETURN(const int32_t width, SideOf(size, 1));
    TF_ASSIGN_OR_RETURN(const std::vector<Rectangle> boxes, BoxesInPixels(ctx.input(1), height, width, image_if_none_));
    CropRules rules = rules_;
    if (ctx.num_inputs() > 2) {
      if (!ctx.input(2).shape().is_scalar()) {
        return InvalidArgument("min_object_covered must be a scalar, got shape ", ctx.input(2).shape());
      }
      rules.min_covered = ctx.input(2).scalar<float>();
    }
    if (!(rules.min_covered >= 0)) {
      return InvalidArgument("min_object_covered must not be negative, got ", rules.min_covered);
    }
    TF_ASSIGN_OR_RETURN(PhiloxReader random, Random(ctx, rules));
    Rectangle crop{0, 0, width, height};  // if no attempt succeeds
    for (int64_t i = 0; i < rules.max_attempts; ++i) {
      const float aspect = UnitFloat(random.Next32()) * (rules.max_aspect - rules.min_aspect) + rules.min_aspect;
      const auto candidate = DrawCrop(width, height, rules, aspect, random);
      if (candidate.has_value() && Covers(*candidate, boxes, rules.min_covered)) {
        crop = *candidate;
        break;
      }
    }
    TF_ASSIGN_OR_RETURN(Tensor * begin, ctx.AllocateOutput(0, {3}));
    TF_ASSIGN_OR_RETURN(Tensor * extent, ctx.AllocateOutput(1, {3}));
    TF_ASSIGN_OR_RETURN(Tensor * box, ctx.AllocateOutput(2, {1, 1, 4}));
    const int64_t begins[] = {crop.top, crop.left, 0};
    const int64_t extents[] = {crop.bottom - crop.top, crop.right - crop.left, -1};
    for (size_t i = 0; i < 3; ++i) {
      SetNumber(begin, i, begins[i]);
      SetNumber(extent, i, extents[i]);
    }
    const float h = static_cast<float>(height), w = static_cast<float>(width);
    const float relative[] = {static_cast<float>(crop.top) / h, static_cast<float>(crop.left) / w,
                              static_cast<float>(crop.bottom) / h, static_cast<float>(crop.right) / w};
    std::copy_n(relative, 4, box->inplace_data<float>().data());
    return OkStatus();
  }

  KernelState* state() override { return stateless_ ? nullptr : &*generator_; }

 private:
  StatusOr<PhiloxReader> Random(KernelContext& ctx, const CropRules& rules) {
    if (!stateless_) {
      return PhiloxReader(generator_->philox(), generator_->Reserve(static_cast<uint64_t>(rules.max_attempts)));
    }
    TF_ASSIGN_OR_RETURN(const StreamStart start, StreamOfSeed(ctx.input(3)));
    return PhiloxReader(start.philox());
  }

  const bool stateless_, image_if_none_;
  std::optional<Generator> generator_;
  CropRules rules_;
  Status status_;  // not OK if the attributes are wrong
};

}  // namespace

void RegisterImageBoxesKernels(KernelRegistry& r) {
  for (const char* op : {"DrawBoundingBoxes", "DrawBoundingBoxesV2"}) {
    r.Add(op, {{"T", {kFloat32}}}, DrawBoundingBoxes<float>);
    r.Add(op, {{"T", {kFloat16}}}, DrawBoundingBoxes<Float16>);
  }
  for (const char* op :
       {"SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", "StatelessSampleDistortedBoundingBox"}) {
    r.Add<SampleBoxKernel>(op, {}, ElementCost<10'000>);
  }
}

}  // namespace tensorbraid::cpu
