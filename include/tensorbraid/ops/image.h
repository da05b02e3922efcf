// Ops on images: files, sizes, colours, boxes. ops/math.h has the rules that hold for all ops. In the notes on
// gradients, g is the gradient with respect to the op's result.
//
// An image is a tensor [height, width, channels]; most functions take batches [batch, height, width, channels]. A file
// is a scalar string. Pixels may have any integer or floating dtype unless a function says otherwise, and floating
// pixels are usually in [0, 1]. A floating dtype is float16, bfloat16, float32 or float64. A file that is malformed,
// truncated or too large (2^29 bytes when decoded, as in TensorFlow) fails the step with InvalidArgument.
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
  // By default, a truncated file fails the step. If try_recover_truncated is set, the missing part of the image becomes
  // grey. Otherwise, if the file has at least the fraction acceptable_fraction of its rows, it is decoded, and the
  // missing rows become black.
  int channels = 0;             // 1 (grey), 3 (RGB); 0: as many as the file has
  int ratio = 1;                // divides the size: 1, 2, 4 or 8
  bool fancy_upscaling = true;  // slower, but without steps in the colours
  bool try_recover_truncated = false;
  float acceptable_fraction = 1.0f;
  std::string dct_method = {};  // "INTEGER_FAST" (the default) or "INTEGER_ACCURATE"
  std::string name = {};
};
// Decodes JPEG: uint8 [height, width, channels]. Not differentiable.
Output DecodeJpeg(const Operand& contents, const DecodeJpegOptions& options = {});
// Decodes one part of a JPEG file. `crop_window` is an int32 vector [y, x, height, width]. InvalidArgument if the
// window does not lie within the image. Not differentiable.
Output DecodeAndCropJpeg(const Operand& contents, const Operand& crop_window, const DecodeJpegOptions& options = {});

struct DecodeImageOptions {
  int channels = 0;               // a number that the decoder of the file's format accepts
  DType dtype = kUint8;           // kUint8, kUint16 or kFloat32; float32 pixels are in [0, 1]
  bool expand_animations = true;  // GIF gives [frames, height, width, 3]; otherwise only the first frame
  std::string name = {};
};
// Decodes a file of any format: PNG, JPEG, GIF or BMP. The rank of the result is known only if expand_animations is
// false. Not differentiable.
Output DecodeImage(const Operand& contents, const DecodeImageOptions& options = {});
// Decodes GIF: uint8 [frames, height, width, 3]. Not differentiable.
Output DecodeGif(const Operand& contents, const std::string& name = "");
// Decodes BMP: uint8 [height, width, channels]. `channels` is 3 or 4, or 0 for as many as the file has. Not
// differentiable.
Output DecodeBmp(const Operand& contents, int channels = 0, const std::string& name = "");

// Encodes uint8 or uint16 images [..., height, width, channels] with 1 to 4 channels as PNG. The result has shape
// [...], one file for each image. `compression` is -1 (default) or 0 (none) to 9 (smallest). Not differentiable.
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
  bool align_corners = false;       // the corner pixels of the images and of the result have the same centers
  bool half_pixel_centers = false;  // pixels have their centers at 0.5, 1.5, ...; cannot be combined with align_corners
  std::string name = {};
};
// Resize images [batch, height, width, channels] to `size`, two positive int32 numbers: height and width. The result is
// float32; that of ResizeNearestNeighbor has the dtype of the images. Gradient: each element of g is distributed to the
// pixels that it was interpolated from, with the same weights. ResizeArea has no gradient; ResizeBicubic has one for
// float32 and float64 only.
Output ResizeBilinear(const Operand& images, const Integers& size, const ResizeOptions& options = {});
Output ResizeNearestNeighbor(const Operand& images, const Integers& size, const ResizeOptions& options = {});
Output ResizeBicubic(const Operand& images, const Integers& size, const ResizeOptions& options = {});
// The mean over the area that a pixel of the result covers. half_pixel_centers must be false.
Output ResizeArea(const Operand& images, const Integers& size, const ResizeOptions& options = {});

struct CropAndResizeOptions {
  bool nearest = false;              // takes the nearest pixel instead of interpolating bilinearly
  float extrapolation_value = 0.0f;  // the value of pixels outside of the image
  std::string name = {};
};
// Crops box i of `boxes` from image box_indices[i] of the batch, and resizes the crop to crop_size: float32 [n, crop
// height, crop width, channels]. `boxes` is float32 [n, 4] of (y1, x1, y2, x2) relative to the sides of the image.
// Gradients: for floating images, each element of g is distributed to the pixels that it was interpolated from; for the
// boxes, g times the derivative of the interpolated values with respect to the coordinates of the box. A step fails
// with OutOfRange for an index of an image that does not exist.
Output CropAndResize(const Operand& images, const Operand& boxes, const Operand& box_indices, const Integers& crop_size,
                     const CropAndResizeOptions& options = {});

struct ExtractPatchesOptions {
  std::vector<int64_t> size = {3, 3};  // height and width
  std::vector<int64_t> strides = {1, 1};
  std::vector<int64_t> rates = {1, 1};  // distance between neighbouring pixels of a patch (dilation)
  bool pad = false;                     // true: SAME, where patches may cross the edges into zeros; false: VALID
  std::string name = {};
};
// The patches of images [batch, height, width, channels]: [batch, rows of patches, columns of patches, height * width *
// channels of a patch]. `images` may have any dtype of numbers. Gradient: for each pixel, the sum of g over the copies
// of the pixel.
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

// image + delta. `image` must have a floating dtype. Gradient: g.
Output AdjustBrightness(const Operand& image, const Operand& delta, const std::string& name = "");
// mean + factor (image - mean), with the mean of each channel of each image. `images` must be float16 or float32 and
// have rank 3 or more. No gradient, as in TensorFlow.
Output AdjustContrast(const Operand& images, const Operand& factor, const std::string& name = "");
// Adds `delta`, a part of a full turn, to the hue of RGB images. `images` must be float16 or float32 and have rank 3 or
// more. No gradient.
Output AdjustHue(const Operand& images, const Operand& delta, const std::string& name = "");
// Multiplies the saturation of RGB images by `factor` and limits it to [0, 1]. `images` must be float16 or float32 and
// have rank 3 or more. No gradient.
Output AdjustSaturation(const Operand& images, const Operand& factor, const std::string& name = "");
// Converts RGB values from 0 to 1 in the last dimension to hue, saturation and value, which are from 0 to 1, too.
// `images` must have a floating dtype. The gradient depends on which channel of a pixel is the largest and which is the
// smallest.
Output RgbToHsv(const Operand& images, const std::string& name = "");
// The inverse of RgbToHsv. `images` must have a floating dtype. Not differentiable.
Output HsvToRgb(const Operand& images, const std::string& name = "");

// --- Boxes ---

struct NonMaxSuppressionOptions {
  float iou_threshold = 0.5f;        // the overlap (intersection over union), 0 to 1, above which a box is suppressed
  float score_threshold = -3.4e38f;  // boxes with lower scores are not selected
  std::string name = {};
};
// Selects up to max_output_size boxes in order of falling score, and leaves out boxes that overlap a selected box.
// Returns the indices of the selected boxes, int32 [selected]. `boxes` is [n, 4] of (y1, x1, y2, x2), `scores` is [n];
// both are float32 or both float16. Not differentiable.
Output NonMaxSuppression(const Operand& boxes, const Operand& scores, const Operand& max_output_size,
                         const NonMaxSuppressionOptions& options = {});
// Draws the outlines of `boxes`, float32 [batch, n, 4] of relative coordinates, into images with 1, 3 or 4 channels.
// `colors` is float32 [colors, channels]; box i gets row i modulo the number of rows. If `colors` has no rows, a fixed
// list of colours is used. `images` must be float16 or float32. Not differentiable.
Output DrawBoundingBoxes(const Operand& images, const Operand& boxes, const Operand& colors,
                         const std::string& name = "");

}  // namespace tensorbraid::image

#endif  // TENSORBRAID_OPS_IMAGE_H_
