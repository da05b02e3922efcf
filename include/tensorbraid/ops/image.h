// Images: files, sizes, colours, boxes. ops/math.h has the rules that hold for all ops, and the meaning of the words
// below.
//
// An image is a tensor [height, width, channels]; most functions take batches [batch, height, width, channels]. A file
// is a scalar string. Pixels are "real" (every integer and floating dtype) unless a function says otherwise, and
// floating pixels are usually in [0, 1]. A file that is malformed, truncated or too large (2^29 bytes when decoded, as
// in TensorFlow) fails the step with InvalidArgument.
#ifndef TENSORBRAID_OPS_IMAGE_H_
#define TENSORBRAID_OPS_IMAGE_H_

#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid::image {

// --- Files ---

struct DecodePngOptions {
  int channels = 0;      // 1 (grey), 3 (RGB), 4 (RGBA); 0: as many as the file has
  DType dtype = kUint8;  // or kUint16
  std::string name = {};
};
// Decodes PNG: [height, width, channels]. Not differentiable.
Output DecodePng(const Operand& contents, const DecodePngOptions& options = {});

struct DecodeJpegOptions {
  int channels = 0;                    // 1 (grey), 3 (RGB); 0: as many as the file has
  int ratio = 1;                       // divides the size: 1, 2, 4 or 8
  bool fancy_upscaling = true;         // slower, but without steps in the colours
  bool try_recover_truncated = false;  // fills what a truncated file lacks with grey
  float acceptable_fraction = 1.0f;    // of the rows that a file must have; the others become black
  std::string dct_method = {};         // "INTEGER_FAST" (the default) or "INTEGER_ACCURATE"
  std::string name = {};
};
// Decodes JPEG: uint8 [height, width, channels]. Not differentiable.
Output DecodeJpeg(const Operand& contents, const DecodeJpegOptions& options = {});
// Decodes the part [y, x, height, width] of a JPEG file, an int32 vector. InvalidArgument if it does not lie within the
// image. Not differentiable.
Output DecodeAndCropJpeg(const Operand& contents, const Operand& crop_window, const DecodeJpegOptions& options = {});

struct DecodeImageOptions {
  int channels = 0;               // as for the format of the file
  DType dtype = kUint8;           // kUint8, kUint16 or kFloat32; float32 pixels are in [0, 1]
  bool expand_animations = true;  // GIF gives [frames, height, width, 3]; otherwise only the first frame
  std::string name = {};
};
// Decodes a file of any format: PNG, JPEG, GIF or BMP. The rank of the result is known only if expand_animations is
// false. Not differentiable.
Output DecodeImage(const Operand& contents, const DecodeImageOptions& options = {});
// Decodes GIF: uint8 [frames, height, width, 3]. Not differentiable.
Output DecodeGif(const Operand& contents, const std::string& name = "");
// Decodes BMP: uint8 [height, width, channels] with 3 or 4 channels, or with 0 as many as the file has. Not
// differentiable.
Output DecodeBmp(const Operand& contents, int channels = 0, const std::string& name = "");

// Encodes uint8 or uint16 images [..., height, width, channels] with 1 to 4 channels as PNG files [...]. `compression`
// is -1 (default) or 0 (none) to 9 (smallest). Not differentiable.
Output EncodePng(const Operand& image, int compression = -1, const std::string& name = "");

struct EncodeJpegOptions {
  int quality = 95;                 // 0 to 100
  bool progressive = false;         // can be shown while it loads
  bool optimize_size = false;       // smaller, with the same pixels
  bool chroma_downsampling = true;  // colours at half the resolution
  std::string name = {};
};
// Encodes a uint8 image with 1 or 3 channels as JPEG. Not differentiable.
Output EncodeJpeg(const Operand& image, const EncodeJpegOptions& options = {});

// --- Sizes ---

struct ResizeOptions {
  bool align_corners = false;       // the centers of the corner pixels stay the same
  bool half_pixel_centers = false;  // pixels have their centers at 0.5, 1.5, ...; not with align_corners
  std::string name = {};
};
// Resize images [batch, height, width, channels] to `size`, two positive int32 numbers: height and width. The result is
// float32 (for NearestNeighbor: of the dtype of the images). Gradients: g moved back by the weights of the
// interpolation. Area has no gradient; Bicubic has one for float32 and float64.
Output ResizeBilinear(const Operand& images, const Integers& size, const ResizeOptions& options = {});
Output ResizeNearestNeighbor(const Operand& images, const Integers& size, const ResizeOptions& options = {});
Output ResizeBicubic(const Operand& images, const Integers& size, const ResizeOptions& options = {});
// The mean over the area that a pixel of the result covers. half_pixel_centers must be false.
Output ResizeArea(const Operand& images, const Integers& size, const ResizeOptions& options = {});

struct CropAndResizeOptions {
  bool nearest = false;              // instead of bilinear interpolation
  float extrapolation_value = 0.0f;  // of pixels outside of the image
  std::string name = {};
};
// Crops each box of `boxes`, float32 [n, 4] of (y1, x1, y2, x2) relative to the sides of the image, from the image
// box_indices[i] of the batch, and resizes it to crop_size: float32 [n, crop height, crop width, channels]. Gradients:
// for floating images, g moved back by the weights of the interpolation; for the boxes, the change of the interpolation
// with the box. A step fails with OutOfRange for an index of an image that does not exist.
Output CropAndResize(const Operand& images, const Operand& boxes, const Operand& box_indices, const Integers& crop_size,
                     const CropAndResizeOptions& options = {});

struct ExtractPatchesOptions {
  std::vector<int64_t> size = {3, 3};  // height and width
  std::vector<int64_t> strides = {1, 1};
  std::vector<int64_t> rates = {1, 1};  // distance of the pixels of a patch
  bool pad = false;                     // SAME: patches overlap the edges, where pixels are 0; else VALID
  std::string name = {};
};
// The patches of images [batch, height, width, channels]: [batch, rows of patches, columns of patches, height * width *
// channels of a patch]. Any dtype of numbers. Gradient: for each pixel, the sum over its copies.
Output ExtractPatches(const Operand& images, const ExtractPatchesOptions& options = {});

// --- Reflections and rotations ---

// Reverses the columns (LeftRight) or rows (UpDown) of an image, or of each image of a batch. The rank must be known: 3
// or 4. Gradient: g, reversed in the same way.
Output FlipLeftRight(const Operand& image, const std::string& name = "");
Output FlipUpDown(const Operand& image, const std::string& name = "");

struct RandomFlipOptions {
  int64_t seed = 0;  // see ops/random.h
  std::string name = {};
};
// Flips with probability 1/2, independently for each image of a batch.
Output RandomFlipLeftRight(const Operand& image, const RandomFlipOptions& options = {});
Output RandomFlipUpDown(const Operand& image, const RandomFlipOptions& options = {});

// --- Colours ---

// image + delta. Floating. Gradient: g.
Output AdjustBrightness(const Operand& image, const Operand& delta, const std::string& name = "");
// mean + factor (image - mean), with the mean of each channel of each image. float16, float32, rank 3 or more. No
// gradient, as in TensorFlow.
Output AdjustContrast(const Operand& images, const Operand& factor, const std::string& name = "");
// Adds `delta`, a part of a full turn, to the hue of RGB images. float16, float32, rank 3 or more. No gradient.
Output AdjustHue(const Operand& images, const Operand& delta, const std::string& name = "");
// Multiplies the saturation of RGB images by `factor` and limits it to [0, 1]. float16, float32, rank 3 or more. No
// gradient.
Output AdjustSaturation(const Operand& images, const Operand& factor, const std::string& name = "");
// Converts RGB in the last dimension, in [0, 1], to hue, saturation and value in [0, 1]. Floating. Gradient: defined by
// the largest and the smallest channel of each pixel.
Output RgbToHsv(const Operand& images, const std::string& name = "");
// The inverse of RgbToHsv. Floating. Not differentiable.
Output HsvToRgb(const Operand& images, const std::string& name = "");

// --- Boxes ---

struct NonMaxSuppressionOptions {
  float iou_threshold = 0.5f;        // the overlap, intersection by union, above which a box is suppressed; in [0, 1]
  float score_threshold = -3.4e38f;  // boxes with lower scores are not selected
  std::string name = {};
};
// Selects up to max_output_size boxes in order of falling score, and leaves out boxes that overlap a selected box.
// Returns the indices of the selected boxes, int32 [selected]. `boxes` is [n, 4] of (y1, x1, y2, x2), `scores` is [n];
// both are float32 or both float16. Not differentiable.
Output NonMaxSuppression(const Operand& boxes, const Operand& scores, const Operand& max_output_size,
                         const NonMaxSuppressionOptions& options = {});
// Draws the outlines of `boxes`, float32 [batch, n, 4] of relative coordinates, into images with 1, 3 or 4 channels.
// `colors` is float32 [colors, channels], taken in turn; with no rows, a fixed list of colours is used. float16,
// float32. Not differentiable.
Output DrawBoundingBoxes(const Operand& images, const Operand& boxes, const Operand& colors,
                         const std::string& name = "");

}  // namespace tensorbraid::image

#endif  // TENSORBRAID_OPS_IMAGE_H_
