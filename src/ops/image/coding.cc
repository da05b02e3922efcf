// Decoding and encoding of image files: schemas, shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// The attribute 'channels', or kUnknownDim if it is 0: then the image has as many channels as the file.
StatusOr<int64_t> ChannelsAskedFor(ShapeContext& c) {
  const int64_t channels = c.attr<int64_t>("channels");
  if (channels < 0) return InvalidArgument("channels must not be negative, got ", channels);
  return channels == 0 ? Shape::kUnknownDim : channels;
}

Status DecodedShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  TF_ASSIGN_OR_RETURN(const int64_t channels, ChannelsAskedFor(c));
  c.set_output(0, {Shape::kUnknownDim, Shape::kUnknownDim, channels});
  return OkStatus();
}

// The image has the size of the crop window [y, x, height, width].
Status DecodeAndCropShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(DecodedShape(c));
  TF_ASSIGN_OR_RETURN(const Shape window, c.WithRank(1, 1));
  if (!window.IsCompatibleWith({4})) {
    return InvalidArgument("crop_window must have four elements, got shape ", window);
  }
  const Tensor value = c.input_value(1);
  if (!value.is_valid()) return OkStatus();
  const int64_t height = value.data<int32_t>()[2], width = value.data<int32_t>()[3];
  TF_ASSIGN_OR_RETURN(const int64_t channels, ChannelsAskedFor(c));
  if (height < 0 || width < 0) return InvalidArgument("crop_window has a negative size: ", value.ToString());
  c.set_output(0, {height, width, channels});
  return OkStatus();
}

Status DecodeGifShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  c.set_output(0, {Shape::kUnknownDim, Shape::kUnknownDim, Shape::kUnknownDim, 3});
  return OkStatus();
}

Status DecodeImageShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  TF_ASSIGN_OR_RETURN(const int64_t channels, ChannelsAskedFor(c));
  if (!c.attr<bool>("expand_animations")) c.set_output(0, {Shape::kUnknownDim, Shape::kUnknownDim, channels});
  return OkStatus();
}

Status EncodePngShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape image, c.WithRankAtLeast(0, 3));
  if (!image.has_rank()) return OkStatus();
  c.set_output(0, Shape(image.dims().first(image.dims().size() - 3)));
  return OkStatus();
}

Status EncodeJpegShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 3).status());
  if (c.num_inputs() > 1) TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  c.set_output(0, {});
  return OkStatus();
}

Status JpegShapeShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  c.set_output(0, {3});
  return OkStatus();
}

}  // namespace

void RegisterImageCodingOps(OpRegistry& r) {
  r.Add(Op("DecodePng")
            .Input("contents: string")
            .Output("image: dtype")
            .Attr("channels: int = 0")
            .Attr("dtype: {uint8, uint16} = DT_UINT8")
            .Shape(DecodedShape)
            .NotDifferentiable());
  r.Add(Op("DecodeJpeg")
            .Input("contents: string")
            .Output("image: uint8")
            .Attr("channels: int = 0")
            .Attr("ratio: int = 1")
            .Attr("fancy_upscaling: bool = true")
            .Attr("try_recover_truncated: bool = false")
            .Attr("acceptable_fraction: float = 1.0")
            .Attr("dct_method: string = ''")
            .Shape(DecodedShape)
            .NotDifferentiable());
  r.Add(Op("DecodeAndCropJpeg")
            .Input("contents: string")
            .Input("crop_window: int32")
            .Output("image: uint8")
            .Attr("channels: int = 0")
            .Attr("ratio: int = 1")
            .Attr("fancy_upscaling: bool = true")
            .Attr("try_recover_truncated: bool = false")
            .Attr("acceptable_fraction: float = 1.0")
            .Attr("dct_method: string = ''")
            .Shape(DecodeAndCropShape)
            .NotDifferentiable());
  r.Add(Op("DecodeGif").Input("contents: string").Output("image: uint8").Shape(DecodeGifShape).NotDifferentiable());
  r.Add(Op("DecodeBmp")
            .Input("contents: string")
            .Output("image: uint8")
            .Attr("channels: int = 0")
            .Shape(DecodedShape)
            .NotDifferentiable());
  r.Add(Op("DecodeImage")
            .Input("contents: string")
            .Output("image: dtype")
            .Attr("channels: int = 0")
            .Attr("dtype: {uint8, uint16, float} = DT_UINT8")
            .Attr("expand_animations: bool = true")
            .Shape(DecodeImageShape)
            .NotDifferentiable());
  r.Add(Op("EncodePng")
            .Input("image: T")
            .Output("contents: string")
            .Attr("compression: int = -1")
            .Attr("T: {uint8, uint16} = DT_UINT8")
            .Shape(EncodePngShape)
            .NotDifferentiable());
  r.Add(Op("EncodeJpeg")
            .Input("image: uint8")
            .Output("contents: string")
            .Attr("format: {'', 'grayscale', 'rgb'} = ''")
            .Attr("quality: int = 95")
            .Attr("progressive: bool = false")
            .Attr("optimize_size: bool = false")
            .Attr("chroma_downsampling: bool = true")
            .Attr("density_unit: {'in', 'cm'} = 'in'")
            .Attr("x_density: int = 300")
            .Attr("y_density: int = 300")
            .Attr("xmp_metadata: string = ''")
            .Shape(EncodeJpegShape)
            .NotDifferentiable());
  r.Add(Op("EncodeJpegVariableQuality")
            .Input("images: uint8")
            .Input("quality: int32")
            .Output("contents: string")
            .Shape(EncodeJpegShape)
            .NotDifferentiable());
  r.Add(Op("ExtractJpegShape")
            .Input("contents: string")
            .Output("image_shape: output_type")
            .Attr("output_type: {int32, int64} = DT_INT32")
            .Shape(JpegShapeShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
