// Resizing of images: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/image/image_size.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// The output is [batch, height, width, channels]: batch and channels are those of input 0, the size is input 1.
Status ResizedShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape images, c.WithRank(0, 4));
  TF_RETURN_IF_ERROR(SetImageSize(c, 1, "size", &images));
  c.set_output(0, std::move(images));
  return OkStatus();
}

Status QuantizedResizedShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(ResizedShape(c));
  TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  TF_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  c.set_output(1, {});
  c.set_output(2, {});
  return OkStatus();
}

// Shape rule of the gradient ops: the gradient has the shape of the images, input 1.
Status OriginalShape(ShapeContext& c) {
  c.set_output(0, c.input(1));
  return OkStatus();
}

// The gradient of the images is the op `name`, applied to the gradient of the result and to the images. The gradient op
// of ResizeBicubic has only float32 and float64.
template <const char* name>
Status ResizeGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output images = NodeOf(op)->inputs()[0];
  if (!IsFloating(images.dtype())) return OkStatus();
  if (std::string_view(name) == "ResizeBicubicGrad" && images.dtype() != kFloat32 && images.dtype() != kFloat64) {
    return OkStatus();
  }
  (*input_grads)[0] = NodeBuilder(*op.graph(), name)
                          .Input(grads[0])
                          .Input(images)
                          .Attr("align_corners", *NodeOf(op)->FindAttr("align_corners"))
                          .Attr("half_pixel_centers", *NodeOf(op)->FindAttr("half_pixel_centers"))
                          .Output();
  return OkStatus();
}
constexpr char kBilinearGrad[] = "ResizeBilinearGrad";
constexpr char kBicubicGrad[] = "ResizeBicubicGrad";

Status NearestGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output images = NodeOf(op)->inputs()[0];
  (*input_grads)[0] = NodeBuilder(*op.graph(), "ResizeNearestNeighborGrad")
                          .Input(grads[0])
                          .Input(Slice(tensorbraid::ShapeOf(images), {1}, {2}))
                          .Attr("align_corners", *NodeOf(op)->FindAttr("align_corners"))
                          .Attr("half_pixel_centers", *NodeOf(op)->FindAttr("half_pixel_centers"))
                          .Output();
  return OkStatus();
}

Op ResizeOp(const char* name, const char* types, const char* output) {
  return Op(name)
      .Input("images: T")
      .Input("size: int32")
      .Output(output)
      .Attr(types)
      .Attr("align_corners: bool = false");
}

}  // namespace

void RegisterImageResizeOps(OpRegistry& r) {
  constexpr const char* kTypes = "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}";
  constexpr const char* kFloatOut = "resized_images: float";
  constexpr const char* kHalfPixel = "half_pixel_centers: bool = false";
  r.Add(ResizeOp("ResizeBilinear", kTypes, kFloatOut)
            .Attr(kHalfPixel)
            .Shape(ResizedShape)
            .Gradient(ResizeGradient<kBilinearGrad>));
  r.Add(ResizeOp("ResizeBicubic", kTypes, kFloatOut)
            .Attr(kHalfPixel)
            .Shape(ResizedShape)
            .Gradient(ResizeGradient<kBicubicGrad>));
  r.Add(ResizeOp("ResizeNearestNeighbor", kTypes, "resized_images: T")
            .Attr(kHalfPixel)
            .Shape(ResizedShape)
            .Gradient(NearestGradient));
  r.Add(ResizeOp("ResizeArea", kTypes, kFloatOut).Shape(ResizedShape));
  for (const auto& [name, types] : {std::pair{kBilinearGrad, "T: {float, bfloat16, half, double}"},
                                    std::pair{kBicubicGrad, "T: {float, double}"}}) {
    Op op = Op(name)
                .Input("grads: float")
                .Input("original_image: T")
                .Output("output: T")
                .Attr(types)
                .Attr("align_corners: bool = false")
                .Attr(kHalfPixel)
                .Shape(OriginalShape);
    if (name == kBilinearGrad) op.NotDifferentiable();
    r.Add(op);
  }
  r.Add(Op("ResizeNearestNeighborGrad")
            .Input("grads: T")
            .Input("size: int32")
            .Output("output: T")
            .Attr("T: {uint8, int8, int32, half, float, double, bfloat16}")
            .Attr("align_corners: bool = false")
            .Attr(kHalfPixel)
            .Shape(ResizedShape));
  r.Add(Op("QuantizedResizeBilinear")
            .Input("images: T")
            .Input("size: int32")
            .Input("min: float")
            .Input("max: float")
            .Output("resized_images: T")
            .Output("out_min: float")
            .Output("out_max: float")
            .Attr("T: {quint8, qint32, float}")
            .Attr("align_corners: bool = false")
            .Attr(kHalfPixel)
            .Shape(QuantizedResizedShape));
}

}  // namespace tensorbraid
