// The public functions of the image op family.
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/image.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/random.h"

namespace tensorbraid::image {
namespace {

// Adds a node of `op` with these operands. `add` adds attributes to the builder of the node.
template <typename Add>
Output ImageOp(const char* op, const std::string& name, std::initializer_list<const Operand*> operands,
               const Add& add) {
  Graph* graph = GraphOf(op, operands);
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, (*operands.begin())->location());
  NodeBuilder builder(*graph, op, (*operands.begin())->location());
  builder.Name(name);
  for (const Operand* operand : operands) builder.Input(operand->ToOutput(*graph));
  add(builder);
  return builder.Output();
}

Output ImageOp(const char* op, const std::string& name, std::initializer_list<const Operand*> operands) {
  return ImageOp(op, name, operands, [](NodeBuilder&) {});
}

void AddJpegAttrs(NodeBuilder& builder, const DecodeJpegOptions& o) {
  builder.Attr("channels", o.channels)
      .Attr("ratio", o.ratio)
      .Attr("fancy_upscaling", o.fancy_upscaling)
      .Attr("try_recover_truncated", o.try_recover_truncated)
      .Attr("acceptable_fraction", o.acceptable_fraction)
      .Attr("dct_method", o.dct_method);
}

// `has_centers`: the op has the attribute half_pixel_centers.
Output Resize(const char* op, const Operand& images, const Integers& size, const ResizeOptions& o, bool has_centers) {
  Graph* graph = images.graph() != nullptr ? images.graph() : size.graph();
  if (graph == nullptr) graph = GraphOf(op, {&images});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, images.location());
  NodeBuilder builder(*graph, op, images.location());
  builder.Name(o.name).Input(images.ToOutput(*graph)).Input(size.ToOutput(*graph, "size", kInt32));
  builder.Attr("align_corners", o.align_corners);
  if (has_centers) builder.Attr("half_pixel_centers", o.half_pixel_centers);
  return builder.Output();
}

// Reverses the columns (`from_end` = 2) or rows (3) of one image or of a batch of images. `from_end` is the number of
// the dimension, counted from the end: 1 is the channels.
Output Flip(const char* function, const Operand& image, int from_end, const std::string& name) {
  Graph* graph = GraphOf(function, {&image});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, image.location());
  const Output x = image.ToOutput(*graph);
  if (!x.valid()) return {};
  if (!x.shape().has_rank() || (x.shape().rank() != 3 && x.shape().rank() != 4)) {
    graph->AddError(absl::InvalidArgumentError(
        std::string(function) + " (" + LocationText(ImplOf(*graph).UserLine(image.location())) +
        "): the image must have a known rank of 3 or 4, got shape " + x.shape().ToString()));
    return {};
  }
  const Output axis = Operand(Tensor::Vector<int32_t>({x.shape().rank() - from_end})).ToOutput(*graph);
  return NodeBuilder(*graph, "ReverseV2", image.location()).Name(name).Input(x).Input(axis).Output();
}

Output RandomFlip(const char* function, const Operand& image, int from_end, const RandomFlipOptions& options) {
  Graph* graph = GraphOf(function, {&image});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, image.location());
  const Output x = image.ToOutput(*graph);
  const Output flipped = Flip(function, x, from_end, "");
  if (!flipped.valid()) return {};
  // One random number for each image of a batch, in a shape that broadcasts over the image's pixels.
  Output draw;
  if (x.shape().rank() == 3) {
    draw = RandomUniform(*graph, Shape{1, 1, 1}, {.seed = options.seed});
  } else {
    const Output batch = Slice(ShapeOf(x), {0}, {1});
    const Output ones = Operand(Tensor::Vector<int32_t>({1, 1, 1})).ToOutput(*graph);
    draw = RandomUniform(*graph, Concat({batch, ones}, 0), {.seed = options.seed});
  }
  return NodeBuilder(*graph, "SelectV2", image.location())
      .Name(options.name)
      .Input(Less(draw, 0.5))
      .Input(flipped)
      .Input(x)
      .Output();
}

}  // namespace

Output DecodePng(const Operand& contents, const DecodePngOptions& o) {
  return ImageOp("DecodePng", o.name, {&contents},
                 [&](NodeBuilder& b) { b.Attr("channels", o.channels).Attr("dtype", o.dtype); });
}

Output DecodeJpeg(const Operand& contents, const DecodeJpegOptions& o) {
  return ImageOp("DecodeJpeg", o.name, {&contents}, [&](NodeBuilder& b) { AddJpegAttrs(b, o); });
}

Output DecodeAndCropJpeg(const Operand& contents, const Operand& crop_window, const DecodeJpegOptions& o) {
  return ImageOp("DecodeAndCropJpeg", o.name, {&contents, &crop_window}, [&](NodeBuilder& b) { AddJpegAttrs(b, o); });
}

Output DecodeImage(const Operand& contents, const DecodeImageOptions& o) {
  return ImageOp("DecodeImage", o.name, {&contents}, [&](NodeBuilder& b) {
    b.Attr("channels", o.channels).Attr("dtype", o.dtype).Attr("expand_animations", o.expand_animations);
  });
}

Output DecodeGif(const Operand& contents, const std::string& name) { return ImageOp("DecodeGif", name, {&contents}); }

Output DecodeBmp(const Operand& contents, int channels, const std::string& name) {
  return ImageOp("DecodeBmp", name, {&contents}, [&](NodeBuilder& b) { b.Attr("channels", channels); });
}

Output EncodePng(const Operand& image, int compression, const std::string& name) {
  return ImageOp("EncodePng", name, {&image}, [&](NodeBuilder& b) { b.Attr("compression", compression); });
}

Output EncodeJpeg(const Operand& image, const EncodeJpegOptions& o) {
  return ImageOp("EncodeJpeg", o.name, {&image}, [&](NodeBuilder& b) {
    b.Attr("quality", o.quality)
        .Attr("progressive", o.progressive)
        .Attr("optimize_size", o.optimize_size)
        .Attr("chroma_downsampling", o.chroma_downsampling);
  });
}

Output ResizeBilinear(const Operand& images, const Integers& size, const ResizeOptions& options) {
  return Resize("ResizeBilinear", images, size, options, /*has_centers=*/true);
}
Output ResizeNearestNeighbor(const Operand& images, const Integers& size, const ResizeOptions& options) {
  return Resize("ResizeNearestNeighbor", images, size, options, /*has_centers=*/true);
}
Output ResizeBicubic(const Operand& images, const Integers& size, const ResizeOptions& options) {
  return Resize("ResizeBicubic", images, size, options, /*has_centers=*/true);
}
Output ResizeArea(const Operand& images, const Integers& size, const ResizeOptions& options) {
  if (options.half_pixel_centers) {
    if (Graph* graph = GraphOf("ResizeArea", {&images}); graph != nullptr) {
      graph->AddError(absl::InvalidArgumentError("ResizeArea (" +
                                                 LocationText(ImplOf(*graph).UserLine(images.location())) +
                                                 "): half_pixel_centers must be false"));
    }
    return {};
  }
  return Resize("ResizeArea", images, size, options, /*has_centers=*/false);
}

Output CropAndResize(const Operand& images, const Operand& boxes, const Operand& box_indices, const Integers& crop_size,
                     const CropAndResizeOptions& o) {
  Graph* graph = GraphOf("CropAndResize", {&images, &boxes, &box_indices});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, images.location());
  return NodeBuilder(*graph, "CropAndResize", images.location())
      .Name(o.name)
      .Input(images.ToOutput(*graph))
      .Input(boxes.ToOutput(*graph))
      .Input(box_indices.ToOutput(*graph))
      .Input(crop_size.ToOutput(*graph, "crop_size", kInt32))
      .Attr("method", o.nearest ? "nearest" : "bilinear")
      .Attr("extrapolation_value", o.extrapolation_value)
      .Output();
}

Output ExtractPatches(const Operand& images, const ExtractPatchesOptions& o) {
  // The attributes have an element for each axis, which is 1 for the batch and the depth.
  const auto list = [](const std::vector<int64_t>& spatial) {
    std::vector<int64_t> all = {1};
    all.insert(all.end(), spatial.begin(), spatial.end());
    all.push_back(1);
    return all;
  };
  return ImageOp("ExtractImagePatches", o.name, {&images}, [&](NodeBuilder& b) {
    b.Attr("ksizes", list(o.size))
        .Attr("strides", list(o.strides))
        .Attr("rates", list(o.rates))
        .Attr("padding", o.pad ? "SAME" : "VALID");
  });
}

Output FlipLeftRight(const Operand& image, const std::string& name) {
  return Flip("FlipLeftRight", image, /*from_end=*/2, name);
}
Output FlipUpDown(const Operand& image, const std::string& name) {
  return Flip("FlipUpDown", image, /*from_end=*/3, name);
}
Output RandomFlipLeftRight(const Operand& image, const RandomFlipOptions& options) {
  return RandomFlip("RandomFlipLeftRight", image, /*from_end=*/2, options);
}
Output RandomFlipUpDown(const Operand& image, const RandomFlipOptions& options) {
  return RandomFlip("RandomFlipUpDown", image, /*from_end=*/3, options);
}

Output AdjustBrightness(const Operand& image, const Operand& delta, const std::string& name) {
  return Add(image, delta, name);
}
Output AdjustContrast(const Operand& images, const Operand& factor, const std::string& name) {
  return ImageOp("AdjustContrastv2", name, {&images, &factor});
}
Output AdjustHue(const Operand& images, const Operand& delta, const std::string& name) {
  return ImageOp("AdjustHue", name, {&images, &delta});
}
Output AdjustSaturation(const Operand& images, const Operand& factor, const std::string& name) {
  return ImageOp("AdjustSaturation", name, {&images, &factor});
}
Output RgbToHsv(const Operand& images, const std::string& name) { return UnaryOp("RGBToHSV", images, name); }
Output HsvToRgb(const Operand& images, const std::string& name) { return UnaryOp("HSVToRGB", images, name); }

Output NonMaxSuppression(const Operand& boxes, const Operand& scores, const Operand& max_output_size,
                         const NonMaxSuppressionOptions& o) {
  const Operand iou(Tensor::Scalar(o.iou_threshold)), least(Tensor::Scalar(o.score_threshold));
  return ImageOp("NonMaxSuppressionV3", o.name, {&boxes, &scores, &max_output_size, &iou, &least});
}

Output DrawBoundingBoxes(const Operand& images, const Operand& boxes, const Operand& colors, const std::string& name) {
  return ImageOp("DrawBoundingBoxesV2", name, {&images, &boxes, &colors});
}

}  // namespace tensorbraid::image
