// A function for each op of src/ops/image; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_IMAGE_H_
#define TENSORBRAID_RAW_OPS_IMAGE_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

// Adds a node of the op AdjustContrast.
// Inputs: images (T), contrast_factor (float32), min_value (float32), max_value (float32).
// Output: output (float32).
// T: float32 float64 int32 uint8 int16 int8 int64.
inline Output AdjustContrast(const Operand& images, const Operand& contrast_factor, const Operand& min_value,
    const Operand& max_value, const std::string& name = "") {
  return internal::Call("AdjustContrast", name, {images, contrast_factor, min_value, max_value}).One();
}

// Adds a node of the op AdjustContrastv2. The usual function is image::AdjustContrast (ops/image.h).
// Inputs: images (T), contrast_factor (float32).
// Output: output (T).
// T: float32 float16.
inline Output AdjustContrastv2(const Operand& images, const Operand& contrast_factor, const std::string& name = "") {
  return internal::Call("AdjustContrastv2", name, {images, contrast_factor}).One();
}

// Adds a node of the op AdjustHue. The usual function is image::AdjustHue (ops/image.h).
// Inputs: images (T), delta (float32).
// Output: output (T).
// T: float32 float16.
inline Output AdjustHue(const Operand& images, const Operand& delta, const std::string& name = "") {
  return internal::Call("AdjustHue", name, {images, delta}).One();
}

// Adds a node of the op AdjustSaturation. The usual function is image::AdjustSaturation (ops/image.h).
// Inputs: images (T), scale (float32).
// Output: output (T).
// T: float32 float16.
inline Output AdjustSaturation(const Operand& images, const Operand& scale, const std::string& name = "") {
  return internal::Call("AdjustSaturation", name, {images, scale}).One();
}

struct CombinedNonMaxSuppressionOptions {
  bool pad_per_class = false;
  bool clip_boxes = true;
  std::string name = {};
};
struct CombinedNonMaxSuppressionOutputs {
  Output nmsed_boxes;
  Output nmsed_scores;
  Output nmsed_classes;
  Output valid_detections;
  Operation operation;
};
// Adds a node of the op CombinedNonMaxSuppression.
// Inputs: boxes (float32), scores (float32), max_output_size_per_class (int32), max_total_size (int32), iou_threshold
//   (float32), score_threshold (float32).
// Attributes: pad_per_class (bool; default false), clip_boxes (bool; default true).
// Outputs: nmsed_boxes (float32), nmsed_scores (float32), nmsed_classes (float32), valid_detections (int32).
inline CombinedNonMaxSuppressionOutputs CombinedNonMaxSuppression(const Operand& boxes, const Operand& scores,
    const Operand& max_output_size_per_class, const Operand& max_total_size, const Operand& iou_threshold,
    const Operand& score_threshold, const CombinedNonMaxSuppressionOptions& options = {}) {
  auto results = internal::Call("CombinedNonMaxSuppression", options.name, {boxes, scores, max_output_size_per_class,
      max_total_size, iou_threshold, score_threshold}).Attr("pad_per_class", options.pad_per_class)
      .Attr("clip_boxes", options.clip_boxes).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct CropAndResizeOptions {
  std::string method = "bilinear";
  float extrapolation_value = 0.0f;
  std::string name = {};
};
// Adds a node of the op CropAndResize. The usual function is image::CropAndResize (ops/image.h). It has a gradient.
// Inputs: image (T), boxes (float32), box_ind (int32), crop_size (int32).
// Attributes: method (string: 'bilinear', 'nearest'; default "bilinear"), extrapolation_value (float; default 0).
// Output: crops (float32).
// T: float32 float64 int32 uint8 int16 int8 int64 uint16 float16.
inline Output CropAndResize(const Operand& image, const Operand& boxes, const Operand& box_ind,
    const Operand& crop_size, const CropAndResizeOptions& options = {}) {
  return internal::Call("CropAndResize", options.name, {image, boxes, box_ind, crop_size})
      .Attr("method", options.method).Attr("extrapolation_value", options.extrapolation_value).One();
}

struct CropAndResizeGradBoxesOptions {
  std::string method = "bilinear";
  std::string name = {};
};
// Adds a node of the op CropAndResizeGradBoxes.
// Inputs: grads (float32), image (T), boxes (float32), box_ind (int32).
// Attributes: method (string: 'bilinear'; default "bilinear").
// Output: output (float32).
// T: float32 float64 int32 uint8 int16 int8 int64 uint16 float16.
inline Output CropAndResizeGradBoxes(const Operand& grads, const Operand& image, const Operand& boxes,
    const Operand& box_ind, const CropAndResizeGradBoxesOptions& options = {}) {
  return internal::Call("CropAndResizeGradBoxes", options.name, {grads, image, boxes, box_ind})
      .Attr("method", options.method).One();
}

struct CropAndResizeGradImageOptions {
  std::string method = "bilinear";
  std::string name = {};
};
// Adds a node of the op CropAndResizeGradImage.
// Inputs: grads (float32), boxes (float32), box_ind (int32), image_size (int32).
// Attributes: t (attribute T, dtype: float32 float64 float16), method (string: 'bilinear', 'nearest'; default
//   "bilinear").
// Output: output (T).
inline Output CropAndResizeGradImage(const Operand& grads, const Operand& boxes, const Operand& box_ind,
    const Operand& image_size, DType t, const CropAndResizeGradImageOptions& options = {}) {
  return internal::Call("CropAndResizeGradImage", options.name, {grads, boxes, box_ind, image_size}).Attr("T", t)
      .Attr("method", options.method).One();
}

struct DecodeAndCropJpegOptions {
  int64_t channels = 0;
  int64_t ratio = 1;
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  float acceptable_fraction = 1.0f;
  std::string dct_method = "";
  std::string name = {};
};
// Adds a node of the op DecodeAndCropJpeg. The usual function is image::DecodeAndCropJpeg (ops/image.h).
// Inputs: contents (string), crop_window (int32).
// Attributes: channels (int; default 0), ratio (int; default 1), fancy_upscaling (bool; default true),
//   try_recover_truncated (bool; default false), acceptable_fraction (float; default 1), dct_method (string; default
//   "").
// Output: image (uint8).
inline Output DecodeAndCropJpeg(const Operand& contents, const Operand& crop_window,
    const DecodeAndCropJpegOptions& options = {}) {
  return internal::Call("DecodeAndCropJpeg", options.name, {contents, crop_window}).Attr("channels", options.channels)
      .Attr("ratio", options.ratio).Attr("fancy_upscaling", options.fancy_upscaling)
      .Attr("try_recover_truncated", options.try_recover_truncated)
      .Attr("acceptable_fraction", options.acceptable_fraction).Attr("dct_method", options.dct_method).One();
}

struct DecodeBmpOptions {
  int64_t channels = 0;
  std::string name = {};
};
// Adds a node of the op DecodeBmp. The usual function is image::DecodeBmp (ops/image.h).
// Inputs: contents (string).
// Attributes: channels (int; default 0).
// Output: image (uint8).
inline Output DecodeBmp(const Operand& contents, const DecodeBmpOptions& options = {}) {
  return internal::Call("DecodeBmp", options.name, {contents}).Attr("channels", options.channels).One();
}

// Adds a node of the op DecodeGif. The usual function is image::DecodeGif (ops/image.h).
// Inputs: contents (string).
// Output: image (uint8).
inline Output DecodeGif(const Operand& contents, const std::string& name = "") {
  return internal::Call("DecodeGif", name, {contents}).One();
}

struct DecodeImageOptions {
  int64_t channels = 0;
  DType dtype = DType::kUint8;
  bool expand_animations = true;
  std::string name = {};
};
// Adds a node of the op DecodeImage. The usual function is image::DecodeImage (ops/image.h).
// Inputs: contents (string).
// Attributes: channels (int; default 0), dtype (dtype: float32 uint8 uint16; default uint8), expand_animations (bool;
//   default true).
// Output: image (dtype).
inline Output DecodeImage(const Operand& contents, const DecodeImageOptions& options = {}) {
  return internal::Call("DecodeImage", options.name, {contents}).Attr("channels", options.channels)
      .Attr("dtype", options.dtype).Attr("expand_animations", options.expand_animations).One();
}

struct DecodeJpegOptions {
  int64_t channels = 0;
  int64_t ratio = 1;
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  float acceptable_fraction = 1.0f;
  std::string dct_method = "";
  std::string name = {};
};
// Adds a node of the op DecodeJpeg. The usual function is image::DecodeJpeg (ops/image.h).
// Inputs: contents (string).
// Attributes: channels (int; default 0), ratio (int; default 1), fancy_upscaling (bool; default true),
//   try_recover_truncated (bool; default false), acceptable_fraction (float; default 1), dct_method (string; default
//   "").
// Output: image (uint8).
inline Output DecodeJpeg(const Operand& contents, const DecodeJpegOptions& options = {}) {
  return internal::Call("DecodeJpeg", options.name, {contents}).Attr("channels", options.channels)
      .Attr("ratio", options.ratio).Attr("fancy_upscaling", options.fancy_upscaling)
      .Attr("try_recover_truncated", options.try_recover_truncated)
      .Attr("acceptable_fraction", options.acceptable_fraction).Attr("dct_method", options.dct_method).One();
}

struct DecodePngOptions {
  int64_t channels = 0;
  DType dtype = DType::kUint8;
  std::string name = {};
};
// Adds a node of the op DecodePng. The usual function is image::DecodePng (ops/image.h).
// Inputs: contents (string).
// Attributes: channels (int; default 0), dtype (dtype: uint8 uint16; default uint8).
// Output: image (dtype).
inline Output DecodePng(const Operand& contents, const DecodePngOptions& options = {}) {
  return internal::Call("DecodePng", options.name, {contents}).Attr("channels", options.channels)
      .Attr("dtype", options.dtype).One();
}

// Adds a node of the op DrawBoundingBoxes.
// Inputs: images (T), boxes (float32).
// Output: output (T).
// T: float32 float16.
inline Output DrawBoundingBoxes(const Operand& images, const Operand& boxes, const std::string& name = "") {
  return internal::Call("DrawBoundingBoxes", name, {images, boxes}).One();
}

// Adds a node of the op DrawBoundingBoxesV2. The usual function is image::DrawBoundingBoxes (ops/image.h).
// Inputs: images (T), boxes (float32), colors (float32).
// Output: output (T).
// T: float32 float16.
inline Output DrawBoundingBoxesV2(const Operand& images, const Operand& boxes, const Operand& colors,
    const std::string& name = "") {
  return internal::Call("DrawBoundingBoxesV2", name, {images, boxes, colors}).One();
}

struct EncodeJpegOptions {
  std::string format = "";
  int64_t quality = 95;
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  std::string density_unit = "in";
  int64_t x_density = 300;
  int64_t y_density = 300;
  std::string xmp_metadata = "";
  std::string name = {};
};
// Adds a node of the op EncodeJpeg. The usual function is image::EncodeJpeg (ops/image.h).
// Inputs: image (uint8).
// Attributes: format (string: '', 'grayscale', 'rgb'; default ""), quality (int; default 95), progressive (bool;
//   default false), optimize_size (bool; default false), chroma_downsampling (bool; default true), density_unit
//   (string: 'in', 'cm'; default "in"), x_density (int; default 300), y_density (int; default 300), xmp_metadata
//   (string; default "").
// Output: contents (string).
inline Output EncodeJpeg(const Operand& image, const EncodeJpegOptions& options = {}) {
  return internal::Call("EncodeJpeg", options.name, {image}).Attr("format", options.format)
      .Attr("quality", options.quality).Attr("progressive", options.progressive)
      .Attr("optimize_size", options.optimize_size).Attr("chroma_downsampling", options.chroma_downsampling)
      .Attr("density_unit", options.density_unit).Attr("x_density", options.x_density)
      .Attr("y_density", options.y_density).Attr("xmp_metadata", options.xmp_metadata).One();
}

// Adds a node of the op EncodeJpegVariableQuality.
// Inputs: images (uint8), quality (int32).
// Output: contents (string).
inline Output EncodeJpegVariableQuality(const Operand& images, const Operand& quality, const std::string& name = "") {
  return internal::Call("EncodeJpegVariableQuality", name, {images, quality}).One();
}

struct EncodePngOptions {
  int64_t compression = -1;
  std::string name = {};
};
// Adds a node of the op EncodePng. The usual function is image::EncodePng (ops/image.h).
// Inputs: image (T).
// Attributes: compression (int; default -1).
// Output: contents (string).
// T: uint8 uint16.
inline Output EncodePng(const Operand& image, const EncodePngOptions& options = {}) {
  return internal::Call("EncodePng", options.name, {image}).Attr("compression", options.compression).One();
}

struct ExtractGlimpseOptions {
  bool centered = true;
  bool normalized = true;
  bool uniform_noise = true;
  std::string noise = "uniform";
  std::string name = {};
};
// Adds a node of the op ExtractGlimpse.
// Inputs: input (float32), size (int32), offsets (float32).
// Attributes: centered (bool; default true), normalized (bool; default true), uniform_noise (bool; default true), noise
//   (string; default "uniform").
// Output: glimpse (float32).
inline Output ExtractGlimpse(const Operand& input, const Operand& size, const Operand& offsets,
    const ExtractGlimpseOptions& options = {}) {
  return internal::Call("ExtractGlimpse", options.name, {input, size, offsets}).Attr("centered", options.centered)
      .Attr("normalized", options.normalized).Attr("uniform_noise", options.uniform_noise).Attr("noise", options.noise)
      .One();
}

struct ExtractGlimpseV2Options {
  bool centered = true;
  bool normalized = true;
  bool uniform_noise = true;
  std::string noise = "uniform";
  std::string name = {};
};
// Adds a node of the op ExtractGlimpseV2.
// Inputs: input (float32), size (int32), offsets (float32).
// Attributes: centered (bool; default true), normalized (bool; default true), uniform_noise (bool; default true), noise
//   (string; default "uniform").
// Output: glimpse (float32).
inline Output ExtractGlimpseV2(const Operand& input, const Operand& size, const Operand& offsets,
    const ExtractGlimpseV2Options& options = {}) {
  return internal::Call("ExtractGlimpseV2", options.name, {input, size, offsets}).Attr("centered", options.centered)
      .Attr("normalized", options.normalized).Attr("uniform_noise", options.uniform_noise).Attr("noise", options.noise)
      .One();
}

// Adds a node of the op ExtractImagePatches. The usual function is image::ExtractPatches (ops/image.h). It has a
//   gradient.
// Inputs: images (T).
// Attributes: ksizes (list of ints, at least 4), strides (list of ints, at least 4), rates (list of ints, at least 4),
//   padding (string: 'SAME', 'VALID').
// Output: patches (T).
// T: numbers bool.
inline Output ExtractImagePatches(const Operand& images, const std::vector<int64_t>& ksizes,
    const std::vector<int64_t>& strides, const std::vector<int64_t>& rates, const std::string& padding,
    const std::string& name = "") {
  return internal::Call("ExtractImagePatches", name, {images}).Attr("ksizes", ksizes).Attr("strides", strides)
      .Attr("rates", rates).Attr("padding", padding).One();
}

struct ExtractJpegShapeOptions {
  DType output_type = DType::kInt32;
  std::string name = {};
};
// Adds a node of the op ExtractJpegShape.
// Inputs: contents (string).
// Attributes: output_type (dtype: int32 int64; default int32).
// Output: image_shape (output_type).
inline Output ExtractJpegShape(const Operand& contents, const ExtractJpegShapeOptions& options = {}) {
  return internal::Call("ExtractJpegShape", options.name, {contents}).Attr("output_type", options.output_type).One();
}

// Adds a node of the op ExtractVolumePatches. It has a gradient.
// Inputs: input (T).
// Attributes: ksizes (list of ints, at least 5), strides (list of ints, at least 5), padding (string: 'SAME', 'VALID').
// Output: patches (T).
// T: reals.
inline Output ExtractVolumePatches(const Operand& input, const std::vector<int64_t>& ksizes,
    const std::vector<int64_t>& strides, const std::string& padding, const std::string& name = "") {
  return internal::Call("ExtractVolumePatches", name, {input}).Attr("ksizes", ksizes).Attr("strides", strides)
      .Attr("padding", padding).One();
}

// Adds a node of the op HSVToRGB. The usual function is image::HsvToRgb (ops/image.h).
// Inputs: images (T).
// Output: output (T).
// T: floats.
inline Output HSVToRGB(const Operand& images, const std::string& name = "") {
  return internal::Call("HSVToRGB", name, {images}).One();
}

struct ImageProjectiveTransformV2Options {
  std::string fill_mode = "CONSTANT";
  std::string name = {};
};
// Adds a node of the op ImageProjectiveTransformV2. It has a gradient.
// Inputs: images (dtype), transforms (float32), output_shape (int32).
// Attributes: interpolation (string), fill_mode (string; default "CONSTANT").
// Output: transformed_images (dtype).
// dtype: floats int32 uint8 int64.
inline Output ImageProjectiveTransformV2(const Operand& images, const Operand& transforms, const Operand& output_shape,
    const std::string& interpolation, const ImageProjectiveTransformV2Options& options = {}) {
  return internal::Call("ImageProjectiveTransformV2", options.name, {images, transforms, output_shape})
      .Attr("interpolation", interpolation).Attr("fill_mode", options.fill_mode).One();
}

struct ImageProjectiveTransformV3Options {
  std::string fill_mode = "CONSTANT";
  std::string name = {};
};
// Adds a node of the op ImageProjectiveTransformV3. It has a gradient.
// Inputs: images (dtype), transforms (float32), output_shape (int32), fill_value (float32).
// Attributes: interpolation (string), fill_mode (string; default "CONSTANT").
// Output: transformed_images (dtype).
// dtype: floats int32 uint8 int64.
inline Output ImageProjectiveTransformV3(const Operand& images, const Operand& transforms, const Operand& output_shape,
    const Operand& fill_value, const std::string& interpolation,
    const ImageProjectiveTransformV3Options& options = {}) {
  return internal::Call("ImageProjectiveTransformV3", options.name, {images, transforms, output_shape, fill_value})
      .Attr("interpolation", interpolation).Attr("fill_mode", options.fill_mode).One();
}

struct NonMaxSuppressionOptions {
  float iou_threshold = 0.5f;
  std::string name = {};
};
// Adds a node of the op NonMaxSuppression.
// Inputs: boxes (float32), scores (float32), max_output_size (int32).
// Attributes: iou_threshold (float; default 0.5).
// Output: selected_indices (int32).
inline Output NonMaxSuppression(const Operand& boxes, const Operand& scores, const Operand& max_output_size,
    const NonMaxSuppressionOptions& options = {}) {
  return internal::Call("NonMaxSuppression", options.name, {boxes, scores, max_output_size})
      .Attr("iou_threshold", options.iou_threshold).One();
}

// Adds a node of the op NonMaxSuppressionV2.
// Inputs: boxes (T), scores (T), max_output_size (int32), iou_threshold (T_threshold).
// Output: selected_indices (int32).
// T: float32 float16; T_threshold: float32 float16.
inline Output NonMaxSuppressionV2(const Operand& boxes, const Operand& scores, const Operand& max_output_size,
    const Operand& iou_threshold, const std::string& name = "") {
  return internal::Call("NonMaxSuppressionV2", name, {boxes, scores, max_output_size, iou_threshold}).One();
}

// Adds a node of the op NonMaxSuppressionV3. The usual function is image::NonMaxSuppression (ops/image.h).
// Inputs: boxes (T), scores (T), max_output_size (int32), iou_threshold (T_threshold), score_threshold (T_threshold).
// Output: selected_indices (int32).
// T: float32 float16; T_threshold: float32 float16.
inline Output NonMaxSuppressionV3(const Operand& boxes, const Operand& scores, const Operand& max_output_size,
    const Operand& iou_threshold, const Operand& score_threshold, const std::string& name = "") {
  return internal::Call("NonMaxSuppressionV3", name, {boxes, scores, max_output_size, iou_threshold, score_threshold})
      .One();
}

struct NonMaxSuppressionV4Options {
  bool pad_to_max_output_size = false;
  std::string name = {};
};
struct NonMaxSuppressionV4Outputs {
  Output selected_indices;
  Output valid_outputs;
  Operation operation;
};
// Adds a node of the op NonMaxSuppressionV4.
// Inputs: boxes (T), scores (T), max_output_size (int32), iou_threshold (T_threshold), score_threshold (T_threshold).
// Attributes: pad_to_max_output_size (bool; default false).
// Outputs: selected_indices (int32), valid_outputs (int32).
// T: float32 float16; T_threshold: float32 float16.
inline NonMaxSuppressionV4Outputs NonMaxSuppressionV4(const Operand& boxes, const Operand& scores,
    const Operand& max_output_size, const Operand& iou_threshold, const Operand& score_threshold,
    const NonMaxSuppressionV4Options& options = {}) {
  auto results = internal::Call("NonMaxSuppressionV4", options.name, {boxes, scores, max_output_size, iou_threshold,
      score_threshold}).Attr("pad_to_max_output_size", options.pad_to_max_output_size).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct NonMaxSuppressionV5Options {
  bool pad_to_max_output_size = false;
  std::string name = {};
};
struct NonMaxSuppressionV5Outputs {
  Output selected_indices;
  Output selected_scores;
  Output valid_outputs;
  Operation operation;
};
// Adds a node of the op NonMaxSuppressionV5.
// Inputs: boxes (T), scores (T), max_output_size (int32), iou_threshold (T), score_threshold (T), soft_nms_sigma (T).
// Attributes: pad_to_max_output_size (bool; default false).
// Outputs: selected_indices (int32), selected_scores (T), valid_outputs (int32).
// T: float32 float16.
inline NonMaxSuppressionV5Outputs NonMaxSuppressionV5(const Operand& boxes, const Operand& scores,
    const Operand& max_output_size, const Operand& iou_threshold, const Operand& score_threshold,
    const Operand& soft_nms_sigma, const NonMaxSuppressionV5Options& options = {}) {
  auto results = internal::Call("NonMaxSuppressionV5", options.name, {boxes, scores, max_output_size, iou_threshold,
      score_threshold, soft_nms_sigma}).Attr("pad_to_max_output_size", options.pad_to_max_output_size).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op NonMaxSuppressionWithOverlaps.
// Inputs: overlaps (float32), scores (float32), max_output_size (int32), overlap_threshold (float32), score_threshold
//   (float32).
// Output: selected_indices (int32).
inline Output NonMaxSuppressionWithOverlaps(const Operand& overlaps, const Operand& scores,
    const Operand& max_output_size, const Operand& overlap_threshold, const Operand& score_threshold,
    const std::string& name = "") {
  return internal::Call("NonMaxSuppressionWithOverlaps", name, {overlaps, scores, max_output_size, overlap_threshold,
      score_threshold}).One();
}

struct QuantizedResizeBilinearOptions {
  bool align_corners = false;
  bool half_pixel_centers = false;
  std::string name = {};
};
struct QuantizedResizeBilinearOutputs {
  Output resized_images;
  Output out_min;
  Output out_max;
  Operation operation;
};
// Adds a node of the op QuantizedResizeBilinear.
// Inputs: images (T), size (int32), min (float32), max (float32).
// Attributes: align_corners (bool; default false), half_pixel_centers (bool; default false).
// Outputs: resized_images (T), out_min (float32), out_max (float32).
// T: float32 quint8 qint32.
inline QuantizedResizeBilinearOutputs QuantizedResizeBilinear(const Operand& images, const Operand& size,
    const Operand& min, const Operand& max, const QuantizedResizeBilinearOptions& options = {}) {
  auto results = internal::Call("QuantizedResizeBilinear", options.name, {images, size, min, max})
      .Attr("align_corners", options.align_corners).Attr("half_pixel_centers", options.half_pixel_centers).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op RGBToHSV. The usual function is image::RgbToHsv (ops/image.h). It has a gradient.
// Inputs: images (T).
// Output: output (T).
// T: floats.
inline Output RGBToHSV(const Operand& images, const std::string& name = "") {
  return internal::Call("RGBToHSV", name, {images}).One();
}

struct RandomCropOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
// Adds a node of the op RandomCrop. The usual function is RandomCrop (ops/random.h).
// Inputs: image (T), size (int64).
// Attributes: seed (int; default 0), seed2 (int; default 0).
// Output: output (T).
// T: float32 float64 int32 uint8 int16 int8 int64.
inline Output RandomCrop(const Operand& image, const Operand& size, const RandomCropOptions& options = {}) {
  return internal::Call("RandomCrop", options.name, {image, size}).Attr("seed", options.seed)
      .Attr("seed2", options.seed2).One();
}

struct ResizeAreaOptions {
  bool align_corners = false;
  std::string name = {};
};
// Adds a node of the op ResizeArea. The usual function is image::ResizeArea (ops/image.h).
// Inputs: images (T), size (int32).
// Attributes: align_corners (bool; default false).
// Output: resized_images (float32).
// T: floats int32 uint8 int16 int8 int64 uint16.
inline Output ResizeArea(const Operand& images, const Operand& size, const ResizeAreaOptions& options = {}) {
  return internal::Call("ResizeArea", options.name, {images, size}).Attr("align_corners", options.align_corners).One();
}

struct ResizeBicubicOptions {
  bool align_corners = false;
  bool half_pixel_centers = false;
  std::string name = {};
};
// Adds a node of the op ResizeBicubic. The usual function is image::ResizeBicubic (ops/image.h). It has a gradient.
// Inputs: images (T), size (int32).
// Attributes: align_corners (bool; default false), half_pixel_centers (bool; default false).
// Output: resized_images (float32).
// T: floats int32 uint8 int16 int8 int64 uint16.
inline Output ResizeBicubic(const Operand& images, const Operand& size, const ResizeBicubicOptions& options = {}) {
  return internal::Call("ResizeBicubic", options.name, {images, size}).Attr("align_corners", options.align_corners)
      .Attr("half_pixel_centers", options.half_pixel_centers).One();
}

struct ResizeBicubicGradOptions {
  bool align_corners = false;
  bool half_pixel_centers = false;
  std::string name = {};
};
// Adds a node of the op ResizeBicubicGrad.
// Inputs: grads (float32), original_image (T).
// Attributes: align_corners (bool; default false), half_pixel_centers (bool; default false).
// Output: output (T).
// T: float32 float64.
inline Output ResizeBicubicGrad(const Operand& grads, const Operand& original_image,
    const ResizeBicubicGradOptions& options = {}) {
  return internal::Call("ResizeBicubicGrad", options.name, {grads, original_image})
      .Attr("align_corners", options.align_corners).Attr("half_pixel_centers", options.half_pixel_centers).One();
}

struct ResizeBilinearOptions {
  bool align_corners = false;
  bool half_pixel_centers = false;
  std::string name = {};
};
// Adds a node of the op ResizeBilinear. The usual function is image::ResizeBilinear (ops/image.h). It has a gradient.
// Inputs: images (T), size (int32).
// Attributes: align_corners (bool; default false), half_pixel_centers (bool; default false).
// Output: resized_images (float32).
// T: floats int32 uint8 int16 int8 int64 uint16.
inline Output ResizeBilinear(const Operand& images, const Operand& size, const ResizeBilinearOptions& options = {}) {
  return internal::Call("ResizeBilinear", options.name, {images, size}).Attr("align_corners", options.align_corners)
      .Attr("half_pixel_centers", options.half_pixel_centers).One();
}

struct ResizeBilinearGradOptions {
  bool align_corners = false;
  bool half_pixel_centers = false;
  std::string name = {};
};
// Adds a node of the op ResizeBilinearGrad.
// Inputs: grads (float32), original_image (T).
// Attributes: align_corners (bool; default false), half_pixel_centers (bool; default false).
// Output: output (T).
// T: floats.
inline Output ResizeBilinearGrad(const Operand& grads, const Operand& original_image,
    const ResizeBilinearGradOptions& options = {}) {
  return internal::Call("ResizeBilinearGrad", options.name, {grads, original_image})
      .Attr("align_corners", options.align_corners).Attr("half_pixel_centers", options.half_pixel_centers).One();
}

struct ResizeNearestNeighborOptions {
  bool align_corners = false;
  bool half_pixel_centers = false;
  std::string name = {};
};
// Adds a node of the op ResizeNearestNeighbor. The usual function is image::ResizeNearestNeighbor (ops/image.h). It has
//   a gradient.
// Inputs: images (T), size (int32).
// Attributes: align_corners (bool; default false), half_pixel_centers (bool; default false).
// Output: resized_images (T).
// T: floats int32 uint8 int16 int8 int64 uint16.
inline Output ResizeNearestNeighbor(const Operand& images, const Operand& size,
    const ResizeNearestNeighborOptions& options = {}) {
  return internal::Call("ResizeNearestNeighbor", options.name, {images, size})
      .Attr("align_corners", options.align_corners).Attr("half_pixel_centers", options.half_pixel_centers).One();
}

struct ResizeNearestNeighborGradOptions {
  bool align_corners = false;
  bool half_pixel_centers = false;
  std::string name = {};
};
// Adds a node of the op ResizeNearestNeighborGrad.
// Inputs: grads (T), size (int32).
// Attributes: align_corners (bool; default false), half_pixel_centers (bool; default false).
// Output: output (T).
// T: floats int32 uint8 int8.
inline Output ResizeNearestNeighborGrad(const Operand& grads, const Operand& size,
    const ResizeNearestNeighborGradOptions& options = {}) {
  return internal::Call("ResizeNearestNeighborGrad", options.name, {grads, size})
      .Attr("align_corners", options.align_corners).Attr("half_pixel_centers", options.half_pixel_centers).One();
}

struct SampleDistortedBoundingBoxOptions {
  int64_t seed = 0;
  int64_t seed2 = 0;
  float min_object_covered = 0.1f;
  std::vector<float> aspect_ratio_range = {0.75f, 1.33f};
  std::vector<float> area_range = {0.05f, 1.0f};
  int64_t max_attempts = 100;
  bool use_image_if_no_bounding_boxes = false;
  std::string name = {};
};
struct SampleDistortedBoundingBoxOutputs {
  Output begin;
  Output size;
  Output bboxes;
  Operation operation;
};
// Adds a node of the op SampleDistortedBoundingBox.
// Inputs: image_size (T), bounding_boxes (float32).
// Attributes: seed (int; default 0), seed2 (int; default 0), min_object_covered (float; default 0.1),
//   aspect_ratio_range (list of floats; default [0.75, 1.33]), area_range (list of floats; default [0.05, 1]),
//   max_attempts (int; default 100), use_image_if_no_bounding_boxes (bool; default false).
// Outputs: begin (T), size (T), bboxes (float32).
// T: int32 uint8 int16 int8 int64.
inline SampleDistortedBoundingBoxOutputs SampleDistortedBoundingBox(const Operand& image_size,
    const Operand& bounding_boxes, const SampleDistortedBoundingBoxOptions& options = {}) {
  auto results = internal::Call("SampleDistortedBoundingBox", options.name, {image_size, bounding_boxes})
      .Attr("seed", options.seed).Attr("seed2", options.seed2).Attr("min_object_covered", options.min_object_covered)
      .Attr("aspect_ratio_range", options.aspect_ratio_range).Attr("area_range", options.area_range)
      .Attr("max_attempts", options.max_attempts)
      .Attr("use_image_if_no_bounding_boxes", options.use_image_if_no_bounding_boxes).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct SampleDistortedBoundingBoxV2Options {
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::vector<float> aspect_ratio_range = {0.75f, 1.33f};
  std::vector<float> area_range = {0.05f, 1.0f};
  int64_t max_attempts = 100;
  bool use_image_if_no_bounding_boxes = false;
  std::string name = {};
};
struct SampleDistortedBoundingBoxV2Outputs {
  Output begin;
  Output size;
  Output bboxes;
  Operation operation;
};
// Adds a node of the op SampleDistortedBoundingBoxV2.
// Inputs: image_size (T), bounding_boxes (float32), min_object_covered (float32).
// Attributes: seed (int; default 0), seed2 (int; default 0), aspect_ratio_range (list of floats; default [0.75, 1.33]),
//   area_range (list of floats; default [0.05, 1]), max_attempts (int; default 100), use_image_if_no_bounding_boxes
//   (bool; default false).
// Outputs: begin (T), size (T), bboxes (float32).
// T: int32 uint8 int16 int8 int64.
inline SampleDistortedBoundingBoxV2Outputs SampleDistortedBoundingBoxV2(const Operand& image_size,
    const Operand& bounding_boxes, const Operand& min_object_covered,
    const SampleDistortedBoundingBoxV2Options& options = {}) {
  auto results = internal::Call("SampleDistortedBoundingBoxV2", options.name, {image_size, bounding_boxes,
      min_object_covered}).Attr("seed", options.seed).Attr("seed2", options.seed2)
      .Attr("aspect_ratio_range", options.aspect_ratio_range).Attr("area_range", options.area_range)
      .Attr("max_attempts", options.max_attempts)
      .Attr("use_image_if_no_bounding_boxes", options.use_image_if_no_bounding_boxes).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct ScaleAndTranslateOptions {
  std::string kernel_type = "lanczos3";
  bool antialias = true;
  std::string name = {};
};
// Adds a node of the op ScaleAndTranslate. It has a gradient.
// Inputs: images (T), size (int32), scale (float32), translation (float32).
// Attributes: kernel_type (string; default "lanczos3"), antialias (bool; default true).
// Output: resized_images (float32).
// T: floats int32 uint8 int16 int8 int64 uint16.
inline Output ScaleAndTranslate(const Operand& images, const Operand& size, const Operand& scale,
    const Operand& translation, const ScaleAndTranslateOptions& options = {}) {
  return internal::Call("ScaleAndTranslate", options.name, {images, size, scale, translation})
      .Attr("kernel_type", options.kernel_type).Attr("antialias", options.antialias).One();
}

struct ScaleAndTranslateGradOptions {
  std::string kernel_type = "lanczos3";
  bool antialias = true;
  std::string name = {};
};
// Adds a node of the op ScaleAndTranslateGrad.
// Inputs: grads (T), original_image (T), scale (float32), translation (float32).
// Attributes: kernel_type (string; default "lanczos3"), antialias (bool; default true).
// Output: output (T).
// T: float32.
inline Output ScaleAndTranslateGrad(const Operand& grads, const Operand& original_image, const Operand& scale,
    const Operand& translation, const ScaleAndTranslateGradOptions& options = {}) {
  return internal::Call("ScaleAndTranslateGrad", options.name, {grads, original_image, scale, translation})
      .Attr("kernel_type", options.kernel_type).Attr("antialias", options.antialias).One();
}

struct StatelessSampleDistortedBoundingBoxOptions {
  std::vector<float> aspect_ratio_range = {0.75f, 1.33f};
  std::vector<float> area_range = {0.05f, 1.0f};
  int64_t max_attempts = 100;
  bool use_image_if_no_bounding_boxes = false;
  std::string name = {};
};
struct StatelessSampleDistortedBoundingBoxOutputs {
  Output begin;
  Output size;
  Output bboxes;
  Operation operation;
};
// Adds a node of the op StatelessSampleDistortedBoundingBox.
// Inputs: image_size (T), bounding_boxes (float32), min_object_covered (float32), seed (Tseed).
// Attributes: aspect_ratio_range (list of floats; default [0.75, 1.33]), area_range (list of floats; default [0.05,
//   1]), max_attempts (int; default 100), use_image_if_no_bounding_boxes (bool; default false).
// Outputs: begin (T), size (T), bboxes (float32).
// Tseed: int32 int64; T: int32 uint8 int16 int8 int64.
inline StatelessSampleDistortedBoundingBoxOutputs StatelessSampleDistortedBoundingBox(const Operand& image_size,
    const Operand& bounding_boxes, const Operand& min_object_covered, const Operand& seed,
    const StatelessSampleDistortedBoundingBoxOptions& options = {}) {
  auto results = internal::Call("StatelessSampleDistortedBoundingBox", options.name, {image_size, bounding_boxes,
      min_object_covered, seed}).Attr("aspect_ratio_range", options.aspect_ratio_range)
      .Attr("area_range", options.area_range).Attr("max_attempts", options.max_attempts)
      .Attr("use_image_if_no_bounding_boxes", options.use_image_if_no_bounding_boxes).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_IMAGE_H_
