// Scaling and translation of images by a kernel function: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/image/image_size.h"

namespace tensorbraid {
namespace {

// Checks that the inputs from number `first` on are vectors of two elements.
Status CheckPairs(ShapeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(const Shape pair, c.WithRank(i, 1));
    if (!pair.IsCompatibleWith({2})) {
      return InvalidArgument("size, scale and translation must have two elements, got shape ", pair);
    }
  }
  return OkStatus();
}

Status ScaledShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape images, c.WithRank(0, 4));
  TF_RETURN_IF_ERROR(CheckPairs(c, 1));
  TF_RETURN_IF_ERROR(SetImageSize(c, 1, "size", &images));
  c.set_output(0, std::move(images));
  return OkStatus();
}

Status ScaleGradShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckPairs(c, 2));
  c.set_output(0, c.input(1));
  return OkStatus();
}

Status ScaleGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& inputs = NodeOf(op)->inputs();
  if (inputs[0].dtype() != kFloat32) return OkStatus();  // as in TensorFlow, whose op takes float32 only
  (*input_grads)[0] = NodeBuilder(*op.graph(), "ScaleAndTranslateGrad")
                          .Input(grads[0])
                          .Input(inputs[0])
                          .Input(inputs[2])
                          .Input(inputs[3])
                          .Attr("kernel_type", *NodeOf(op)->FindAttr("kernel_type"))
                          .Attr("antialias", *NodeOf(op)->FindAttr("antialias"))
                          .Output();
  return OkStatus();
}

}  // namespace

void RegisterImageScaleOps(OpRegistry& r) {
  r.Add(Op("ScaleAndTranslate")
            .Input("images: T")
            .Input("size: int32")
            .Input("scale: float")
            .Input("translation: float")
            .Output("resized_images: float")
            .Attr("T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}")
            .Attr("kernel_type: string = 'lanczos3'")
            .Attr("antialias: bool = true")
            .Shape(ScaledShape)
            .Gradient(ScaleGradient));
  r.Add(Op("ScaleAndTranslateGrad")
            .Input("grads: T")
            .Input("original_image: T")
            .Input("scale: float")
            .Input("translation: float")
            .Output("output: T")
            .Attr("T: {float}")
            .Attr("kernel_type: string = 'lanczos3'")
            .Attr("antialias: bool = true")
            .Shape(ScaleGradShape));
}

}  // namespace tensorbraid
