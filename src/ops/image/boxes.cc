// DrawBoundingBoxes and SampleDistortedBoundingBox: schemas, shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status DrawBoxesShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape images, c.WithRankAtLeast(0, 3));
  c.set_output(0, std::move(images));
  return OkStatus();
}

Status SampleBoxShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape size, c.WithRank(0, 1));
  TF_ASSIGN_OR_RETURN(const Shape boxes, c.WithRank(1, 3));
  if (!size.IsCompatibleWith({3})) return InvalidArgument("image_size must have three elements, got shape ", size);
  if (!Shape({boxes.dim(2)}).IsCompatibleWith({4})) {
    return InvalidArgument("bounding_boxes must have shape [batch, n, 4], got ", boxes);
  }
  // The further inputs, if any, are the scalar min_object_covered and the vector seed.
  for (int i = 2; i < c.num_inputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i, i == 2 ? 0 : 1).status());
  c.set_output(0, {3});
  c.set_output(1, {3});
  c.set_output(2, {1, 1, 4});
  return OkStatus();
}

Op SampleBoxOp(const char* name) { return Op(name).Input("image_size: T").Input("bounding_boxes: float"); }

// Adds the outputs and the attributes that all versions of the op have.
Op& SampleBoxRest(Op& op) {
  return op.Output("begin: T")
      .Output("size: T")
      .Output("bboxes: float")
      .Attr("T: {uint8, int8, int16, int32, int64}")
      .Attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
      .Attr("area_range: list(float) = [0.05, 1.0]")
      .Attr("max_attempts: int = 100")
      .Attr("use_image_if_no_bounding_boxes: bool = false")
      .Shape(SampleBoxShape);
}

}  // namespace

void RegisterImageBoxesOps(OpRegistry& r) {
  r.Add(Op("DrawBoundingBoxes")
            .Input("images: T")
            .Input("boxes: float")
            .Output("output: T")
            .Attr("T: {float, half} = DT_FLOAT")
            .Shape(DrawBoxesShape)
            .NotDifferentiable());
  r.Add(Op("DrawBoundingBoxesV2")
            .Input("images: T")
            .Input("boxes: float")
            .Input("colors: float")
            .Output("output: T")
            .Attr("T: {float, half} = DT_FLOAT")
            .Shape(DrawBoxesShape)
            .NotDifferentiable());
  Op v1 = SampleBoxOp("SampleDistortedBoundingBox");
  v1.Attr("seed: int = 0").Attr("seed2: int = 0").Attr("min_object_covered: float = 0.1");
  r.Add(SampleBoxRest(v1).Stateful().NotDifferentiable());
  Op v2 = SampleBoxOp("SampleDistortedBoundingBoxV2");
  v2.Input("min_object_covered: float").Attr("seed: int = 0").Attr("seed2: int = 0");
  r.Add(SampleBoxRest(v2).Stateful().NotDifferentiable());
  Op stateless = SampleBoxOp("StatelessSampleDistortedBoundingBox");
  stateless.Input("min_object_covered: float").Input("seed: Tseed").Attr("Tseed: {int32, int64}");
  r.Add(SampleBoxRest(stateless).NotDifferentiable());
}

}  // namespace tensorbraid
