// Kernels that decode and encode image files.
#include <cstring>

#include "core/text/gzip_magic.h"
#include "io/file_origins.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/image/bmp_codec.h"
#include "kernels/cpu/image/gif_codec.h"
#include "kernels/cpu/image/jpeg_codec.h"
#include "kernels/cpu/image/png_codec.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

enum class FileFormat { kUnknown, kJpeg, kPng, kGif, kBmp };

FileFormat FormatOf(std::string_view contents) {
  if (contents.starts_with("\xff\xd8\xff")) return FileFormat::kJpeg;
  if (contents.starts_with("\x89PNG\r\n\x1a\n")) return FileFormat::kPng;
  if (contents.starts_with("GIF8")) return FileFormat::kGif;
  if (contents.starts_with("BM")) return FileFormat::kBmp;
  return FileFormat::kUnknown;
}

StatusOr<JpegReadOptions> JpegOptionsOf(const Node& node) {
  JpegReadOptions options;
  options.ratio = static_cast<int>(node.attr<int64_t>("ratio"));
  if (options.ratio != 1 && options.ratio != 2 && options.ratio != 4 && options.ratio != 8) {
    return InvalidArgument("ratio must be 1, 2, 4 or 8, got ", node.attr<int64_t>("ratio"));
  }
  options.fancy_upscaling = node.attr<bool>("fancy_upscaling");
  options.try_recover_truncated = node.attr<bool>("try_recover_truncated");
  options.acceptable_fraction = node.attr<float>("acceptable_fraction");
  const auto& method = node.attr<std::string>("dct_method");
  if (method != "" && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE") {
    return InvalidArgument("dct_method must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE', got '", method, "'");
  }
  options.fast_dct = method != "INTEGER_ACCURATE";
  return options;
}

// The kernel of all decoding ops. They differ in the formats that they accept and in the rank of their output. Like
// TensorFlow's, most of them also decode files of formats other than the one that they are named after.
class DecodeKernel final : public Kernel {
 public:
  explicit DecodeKernel(const KernelConstruction& c)
      : is_gif_op_(c.node().op().name == "DecodeGif"),
        is_bmp_op_(c.node().op().name == "DecodeBmp"),
        is_image_op_(c.node().op().name == "DecodeImage"),
        crops_(c.node().op().name == "DecodeAndCropJpeg") {
    channels_ = is_gif_op_ ? 3 : c.attr<int64_t>("channels");
    if (is_image_op_ || c.node().op().name == "DecodePng") dtype_ = c.attr<DType>("dtype");
    if (is_image_op_) expand_animations_ = c.attr<bool>("expand_animations");
    if (crops_ || c.node().op().name == "DecodeJpeg") {
      auto options = JpegOptionsOf(c.node());
      status_ = options.status();
      if (options.ok()) jpeg_ = *options;
    }
  }

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(status_);
    if (channels_ != 0 && channels_ != 1 && channels_ != 3 && channels_ != 4) {
      return InvalidArgument("channels must be 0, 1, 3 or 4, got ", channels_);
    }
    if (!ctx.input(0).shape().is_scalar()) {
      return InvalidArgument("contents must be a scalar, got shape ", ctx.input(0).shape());
    }
    const std::string_view contents = ctx.input(0).scalar<std::string>();
    return AboutFileContents(DecodeFile(ctx, contents), contents);
  }

 private:
  Status DecodeFile(KernelContext& ctx, std::string_view contents) const {
    if (contents.empty()) return InvalidArgument("Input is empty: contents has no bytes");
    switch (FormatOf(contents)) {
      case FileFormat::kJpeg:
        return DecodeJpegFile(ctx, contents);
      case FileFormat::kPng:
        return DecodePngFile(ctx, contents);
      case FileFormat::kGif:
        return DecodeGifFile(ctx, contents);
      case FileFormat::kBmp:
        return DecodeBmpFile(ctx, contents);
      case FileFormat::kUnknown:
        break;
    }
    return InvalidArgument("Unknown image file format. One of JPEG, PNG, GIF, BMP required", GzipHint(contents));
  }

  // The error of DecodeBmp and DecodeAndCropJpeg, which decode only the format that they are named after. `right` is
  // the Python function for files of the format.
  Status WrongOp(const char* format, const char* right) const {
    if (crops_) {
      return InvalidArgument("DecodeAndCropJpeg operation can run on JPEG only, but detected ", format, ". Use `",
                             right, "` or `decode_image` instead.");
    }
    return InvalidArgument("Trying to decode ", format, " format using DecodeBmp op. Use `", right,
                           "` or `decode_image` instead.");
  }

  Status DecodeJpegFile(KernelContext& ctx, std::string_view contents) const {
    if (is_bmp_op_) return WrongOp("JPEG", "decode_jpeg");
    if (channels_ == 4) return InvalidArgument("channels must be 0, 1 or 3 for JPEG, got 4");
    JpegReadOptions options = jpeg_;
    options.channels = static_cast<int>(channels_);
    if (crops_) {
      const Tensor& window = ctx.input(1);
      if (window.shape() != Shape({4})) {
        return InvalidArgument("crop_window must have shape [4], got ", window.shape());
      }
      const auto w = window.data<int32_t>();
      options.crop = CropWindow{w[0], w[1], w[2], w[3]};
    }
    return Decode(ctx, 8, [&](const AllocatePixels& allocate) { return ReadJpeg(contents, options, allocate); });
  }

  Status DecodePngFile(KernelContext& ctx, std::string_view contents) const {
    if (is_bmp_op_ || crops_) return WrongOp("PNG", "decode_png");
    const int bits = dtype_ == kUint8 ? 8 : 16;
    return Decode(ctx, bits, [&](const AllocatePixels& allocate) {
      return ReadPng(contents, static_cast<int>(channels_), bits, allocate);
    });
  }

  Status DecodeGifFile(KernelContext& ctx, std::string_view contents) const {
    if (is_bmp_op_ || crops_) return WrongOp("GIF", "decode_gif");
    if (channels_ != 0 && channels_ != 3) return InvalidArgument("channels must be 0 or 3 for GIF, got ", channels_);
    return Decode(
        ctx, 8,
        [&](const AllocatePixels& allocate) {
          return ReadGif(contents, /*first_only=*/is_image_op_ && !expand_animations_, allocate);
        },
        /*has_frames=*/is_gif_op_ || (is_image_op_ && expand_animations_));
  }

  Status DecodeBmpFile(KernelContext& ctx, std::string_view contents) const {
    if (crops_) return WrongOp("BMP", "decode_bmp");
    if (!is_bmp_op_ && !is_image_op_) {
      return InvalidArgument(
          "Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. ",
          "Op used: ", ctx.node().op().name);
    }
    if (channels_ == 1) return InvalidArgument("channels must be 0, 3 or 4 for BMP, got 1");
    return Decode(ctx, 8, [&](const AllocatePixels& allocate) {
      return ReadBmp(contents, static_cast<int>(channels_), allocate);
    });
  }

  // Sets the output to the result of `read`, converted to the dtype of the output. `bits` is the number of bits per
  // channel that `read` gives. With `has_frames`, and for DecodeGif, the first dimension of the output is for the
  // frames.
  template <typename Read>
  Status Decode(KernelContext& ctx, int bits, const Read& read, bool has_frames = false) const {
    const bool direct = dtype_ == (bits == 8 ? kUint8 : kUint16);
    Tensor* out = nullptr;
    Tensor decoded;
    TF_RETURN_IF_ERROR(read([&](int64_t frames, const ImageSize& size) -> StatusOr<void*> {
      Shape shape{size.height, size.width, size.channels};
      if (is_gif_op_ || has_frames) {
        shape = {frames, size.height, size.width, size.channels};
      } else if (frames != 1) {
        return InvalidArgument("Got ", frames,
                               " frames, but animated gifs can only be decoded by tf.io.decode_gif or "
                               "tf.io.decode_image");
      }
      TF_ASSIGN_OR_RETURN(out, ctx.AllocateOutput(0, shape));
      if (direct) return out->inplace_raw_data();
      TF_ASSIGN_OR_RETURN(decoded, ctx.AllocateTemp(bits == 8 ? kUint8 : kUint16, shape));
      return decoded.inplace_raw_data();
    }));
    if (direct) return OkStatus();
    const int64_t n = out->num_elements();
    if (dtype_ == kUint16) {
      const uint8_t* from = decoded.data<uint8_t>().data();
      uint16_t* to = out->inplace_data<uint16_t>().data();
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<uint16_t>(from[i] * 256);  // as in TensorFlow
    } else if (bits == 8) {
      const uint8_t* from = decoded.data<uint8_t>().data();
      float* to = out->inplace_data<float>().data();
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]) * (1.0f / 255.0f);
    } else {
      const uint16_t* from = decoded.data<uint16_t>().data();
      float* to = out->inplace_data<float>().data();
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]) * (1.0f / 65535.0f);
    }
    return OkStatus();
  }

  const bool is_gif_op_, is_bmp_op_, is_image_op_, crops_;
  int64_t channels_ = 0;
  DType dtype_ = kUint8;
  bool expand_animations_ = true;
  JpegReadOptions jpeg_;
  Status status_;  // not OK if the attributes are wrong
};

Status CheckHasPixels(const ImageSize& size, const Shape& shape) {
  if (size.height > 0 && size.width > 0) return OkStatus();
  return InvalidArgument("image is empty and cannot be encoded, got shape ", shape);
}

Status EncodePng(KernelContext& ctx) {
  const Tensor& image = ctx.input(0);
  const Shape& shape = image.shape();
  const int rank = shape.rank();
  if (rank < 3) return InvalidArgument("image must have rank 3 or more, got shape ", shape);
  const ImageSize size{shape.dim(rank - 3), shape.dim(rank - 2), shape.dim(rank - 1)};
  if (size.channels < 1 || size.channels > 4) {
    return InvalidArgument("image must have 1, 2, 3 or 4 channels, got shape ", shape);
  }
  const int64_t compression = ctx.node().attr<int64_t>("compression");
  if (compression < -1 || compression > 9) {
    return InvalidArgument("compression must be -1 to 9, got ", compression);
  }
  TF_RETURN_IF_ERROR(CheckHasPixels(size, shape));
  const Shape batch(shape.dims().first(static_cast<size_t>(rank - 3)));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, batch));
  const auto* pixels = static_cast<const uint8_t*>(image.raw_data());
  const int bytes = image.dtype() == kUint16 ? 2 : 1;
  for (std::string& file : out->inplace_data<std::string>()) {
    TF_ASSIGN_OR_RETURN(file, WritePng(pixels, size, 8 * bytes, static_cast<int>(compression)));
    pixels += size.height * size.width * size.channels * bytes;
  }
  return OkStatus();
}

Status EncodeJpegImage(KernelContext& ctx, const JpegWriteOptions& options, int64_t wanted_channels) {
  const Tensor& image = ctx.input(0);
  const Shape& shape = image.shape();
  if (shape.rank() != 3) return InvalidArgument("image must have shape [height, width, channels], got ", shape);
  const int64_t channels = shape.dim(2);
  if (wanted_channels != 0 ? channels != wanted_channels : channels != 1 && channels != 3) {
    return InvalidArgument("image must have ",
                           wanted_channels == 0   ? "1 or 3"
                           : wanted_channels == 1 ? "1"
                                                  : "3",
                           " channels, got shape ", shape);
  }
  if (options.quality < 0 || options.quality > 100) {
    return InvalidArgument("quality must be 0 to 100, got ", options.quality);
  }
  TF_RETURN_IF_ERROR(CheckHasPixels({shape.dim(0), shape.dim(1), channels}, shape));
  if (image.num_elements() >= kMaxImageBytes) return InvalidArgument("cannot encode an image of shape ", shape);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {}));
  TF_ASSIGN_OR_RETURN(out->inplace_data<std::string>()[0],
                      WriteJpeg(image.data<uint8_t>().data(), {shape.dim(0), shape.dim(1), channels}, options));
  return OkStatus();
}

Status EncodeJpeg(KernelContext& ctx) {
  const Node& node = ctx.node();
  JpegWriteOptions options;
  const auto& format = node.attr<std::string>("format");
  const int64_t quality = node.attr<int64_t>("quality");
  if (quality < 0 || quality > 100) return InvalidArgument("quality must be 0 to 100, got ", quality);
  options.quality = static_cast<int>(quality);
  options.progressive = node.attr<bool>("progressive");
  options.optimize_size = node.attr<bool>("optimize_size");
  options.chroma_downsampling = node.attr<bool>("chroma_downsampling");
  options.density_in_cm = node.attr<std::string>("density_unit") == "cm";
  options.x_density = static_cast<int>(node.attr<int64_t>("x_density"));
  options.y_density = static_cast<int>(node.attr<int64_t>("y_density"));
  options.xmp_metadata = node.attr<std::string>("xmp_metadata");
  return EncodeJpegImage(ctx, options, format == "grayscale" ? 1 : format == "rgb" ? 3 : 0);
}

Status EncodeJpegVariableQuality(KernelContext& ctx) {
  if (!ctx.input(1).shape().is_scalar()) {
    return InvalidArgument("quality must be a scalar, got shape ", ctx.input(1).shape());
  }
  JpegWriteOptions options;
  options.quality = ctx.input(1).scalar<int32_t>();
  return EncodeJpegImage(ctx, options, 0);
}

Status ExtractJpegShape(KernelContext& ctx) {
  if (!ctx.input(0).shape().is_scalar()) {
    return InvalidArgument("contents must be a scalar, got shape ", ctx.input(0).shape());
  }
  TF_ASSIGN_OR_RETURN(const ImageSize size, ReadJpegSize(ctx.input(0).scalar<std::string>()));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {3}));
  const int64_t values[] = {size.height, size.width, size.channels};
  for (size_t i = 0; i < 3; ++i) {
    if (out->dtype() == kInt32) {
      out->inplace_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    } else {
      out->inplace_data<int64_t>()[i] = values[i];
    }
  }
  return OkStatus();
}

// This is the cost of an image of medium size, because the size of a file says little about the size of its image.
Cost DecodeCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  cost.flops += FlopsOfNs(1e6);
  return cost;
}

}  // namespace

void RegisterImageCodingKernels(KernelRegistry& r) {
  for (const char* op : {"DecodePng", "DecodeJpeg", "DecodeAndCropJpeg", "DecodeGif", "DecodeBmp", "DecodeImage"}) {
    r.Add<DecodeKernel>(op, {}, DecodeCost);
  }
  r.Add("EncodePng", {}, EncodePng, ElementCost<20'000>);
  r.Add("EncodeJpeg", {}, EncodeJpeg, ElementCost<5'000>);
  r.Add("EncodeJpegVariableQuality", {}, EncodeJpegVariableQuality, ElementCost<5'000>);
  r.Add("ExtractJpegShape", {}, ExtractJpegShape, ElementCost<1'000'000>);
}

}  // namespace tensorbraid::cpu
