// Crops of images: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/image/image_size.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

// Input number `boxes` has the boxes, [n, 4], and the input after it has the index of the image for each box. Returns
// n.
StatusOr<int64_t> BoxCount(ShapeContext& c, int boxes) {
  TF_ASSIGN_OR_RETURN(const Shape coordinates, c.WithRank(boxes, 2));
  TF_ASSIGN_OR_RETURN(const Shape images, c.WithRank(boxes + 1, 1));
  if (!Shape({coordinates.dim(1)}).IsCompatibleWith({4})) {
    return InvalidArgument("boxes must have shape [n, 4], got ", coordinates);
  }
  TF_ASSIGN_OR_RETURN(const Shape count, Shape({coordinates.dim(0)}).MergeWith(images));
  return count.dim(0);
}

Status CropAndResizeShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape image, c.WithRank(0, 4));
  TF_ASSIGN_OR_RETURN(const int64_t boxes, BoxCount(c, 1));
  Shape out{boxes, Shape::kUnknownDim, Shape::kUnknownDim, image.dim(3)};
  TF_RETURN_IF_ERROR(SetImageSize(c, 3, "crop_size", &out));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status CropAndResizeGradImageShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 4).status());
  TF_RETURN_IF_ERROR(BoxCount(c, 1).status());
  TF_ASSIGN_OR_RETURN(Shape image, c.input_as_shape(3));
  if (image.has_rank() && image.rank() != 4) {
    return InvalidArgument("image_size must have four elements, got the shape ", image);
  }
  c.set_output(0, std::move(image));
  return OkStatus();
}

Status CropAndResizeGradBoxesShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 4).status());
  TF_RETURN_IF_ERROR(c.WithRank(1, 4).status());
  TF_ASSIGN_OR_RETURN(const int64_t boxes, BoxCount(c, 2));
  c.set_output(0, {boxes, 4});
  return OkStatus();
}

Status CropAndResizeGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& inputs = NodeOf(op)->inputs();
  // CropAndResizeGradImage has only these dtypes. Images of other dtypes get no gradient.
  const DType dtype = inputs[0].dtype();
  if (dtype == kFloat16 || dtype == kFloat32 || dtype == kFloat64) {
    (*input_grads)[0] = NodeBuilder(*op.graph(), "CropAndResizeGradImage")
                            .Input(grads[0])
                            .Input(inputs[1])
                            .Input(inputs[2])
                            .Input(ShapeOf(inputs[0]))
                            .Attr("T", dtype)
                            .Attr("method", *NodeOf(op)->FindAttr("method"))
                            .Output();
  }
  (*input_grads)[1] = NodeBuilder(*op.graph(), "CropAndResizeGradBoxes")
                          .Input(grads[0])
                          .Input(inputs[0])
                          .Input(inputs[1])
                          .Input(inputs[2])
                          .Output();
  return OkStatus();
}

Status GlimpseShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape input, c.WithRank(0, 4));
  TF_ASSIGN_OR_RETURN(const Shape offsets, c.WithRank(2, 2));
  TF_ASSIGN_OR_RETURN(const Shape batch, Shape({input.dim(0)}).MergeWith({offsets.dim(0)}));
  if (!Shape({offsets.dim(1)}).IsCompatibleWith({2})) {
    return InvalidArgument("offsets must have shape [batch, 2], got ", offsets);
  }
  Shape out{batch.dim(0), Shape::kUnknownDim, Shape::kUnknownDim, input.dim(3)};
  TF_RETURN_IF_ERROR(SetImageSize(c, 1, "size", &out));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status RandomCropShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape image, c.WithRank(0, 3));
  TF_ASSIGN_OR_RETURN(Shape size, c.input_as_shape(1));
  if (size.has_rank() && size.rank() != 2) return InvalidArgument("size must have two elements, got ", size.rank());
  if (!size.has_rank()) size = Shape::UnknownOfRank(2);
  c.set_output(0, {size.dim(0), size.dim(1), image.dim(2)});
  return OkStatus();
}

}  // namespace

void RegisterImageCropOps(OpRegistry& r) {
  constexpr const char* kPixels = "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}";
  constexpr const char* kMethod = "method: {'bilinear', 'nearest'} = 'bilinear'";
  r.Add(Op("CropAndResize")
            .Input("image: T")
            .Input("boxes: float")
            .Input("box_ind: int32")
            .Input("crop_size: int32")
            .Output("crops: float")
            .Attr(kPixels)
            .Attr(kMethod)
            .Attr("extrapolation_value: float = 0")
            .Shape(CropAndResizeShape)
            .Gradient(CropAndResizeGradient));
  r.Add(Op("CropAndResizeGradImage")
            .Input("grads: float")
            .Input("boxes: float")
            .Input("box_ind: int32")
            .Input("image_size: int32")
            .Output("output: T")
            .Attr("T: {float, half, double}")
            .Attr(kMethod)
            .Shape(CropAndResizeGradImageShape));
  r.Add(Op("CropAndResizeGradBoxes")
            .Input("grads: float")
            .Input("image: T")
            .Input("boxes: float")
            .Input("box_ind: int32")
            .Output("output: float")
            .Attr(kPixels)
            .Attr("method: {'bilinear'} = 'bilinear'")
            .Shape(CropAndResizeGradBoxesShape));
  for (const char* name : {"ExtractGlimpse", "ExtractGlimpseV2"}) {
    r.Add(Op(name)
              .Input("input: float")
              .Input("size: int32")
              .Input("offsets: float")
              .Output("glimpse: float")
              .Attr("centered: bool = true")
              .Attr("normalized: bool = true")
              .Attr("uniform_noise: bool = true")
              .Attr("noise: string = 'uniform'")
              .Impure()  // the noise differs from run to run
              .Shape(GlimpseShape)
              .NotDifferentiable());
  }
  r.Add(Op("RandomCrop")
            .Input("image: T")
            .Input("size: int64")
            .Output("output: T")
            .Attr("T: {uint8, int8, int16, int32, int64, float, double}")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Stateful()
            .Shape(RandomCropShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
