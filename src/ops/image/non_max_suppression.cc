// Non-maximum suppression of boxes: schemas, shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// Checks the boxes [n, 4] and scores [n], inputs 0 and 1. Returns n.
StatusOr<int64_t> CheckBoxes(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape boxes, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape scores, c.WithRank(1, 1));
  if (!Shape({boxes.dim(1)}).IsCompatibleWith({4})) {
    return InvalidArgument("boxes must have shape [n, 4], got ", boxes);
  }
  TF_ASSIGN_OR_RETURN(const Shape both, Shape({boxes.dim(0)}).MergeWith(scores));
  return both.dim(0);
}

// Checks that the inputs from number `first` on are scalars.
Status CheckScalars(ShapeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  return OkStatus();
}

// The size of the outputs if they are padded to max_output_size, else kUnknownDim.
StatusOr<int64_t> PaddedSize(ShapeContext& c) {
  const Tensor value = c.input_value(2);
  if (!c.attr<bool>("pad_to_max_output_size") || !value.is_valid()) return Shape::kUnknownDim;
  const int64_t size = value.scalar<int32_t>();
  if (size < 0) return InvalidArgument("max_output_size must not be negative, got ", size);
  return size;
}

Status SuppressionShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckBoxes(c).status());
  TF_RETURN_IF_ERROR(CheckScalars(c, 2));
  c.set_output(0, {Shape::kUnknownDim});
  return OkStatus();
}

Status SuppressionV4Shape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(SuppressionShape(c));
  TF_ASSIGN_OR_RETURN(const int64_t size, PaddedSize(c));
  c.set_output(0, {size});
  c.set_output(1, {});
  return OkStatus();
}

Status SuppressionV5Shape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(SuppressionShape(c));
  TF_ASSIGN_OR_RETURN(const int64_t size, PaddedSize(c));
  c.set_output(0, {size});
  c.set_output(1, {size});
  c.set_output(2, {});
  return OkStatus();
}

Status OverlapsShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape overlaps, c.WithRank(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape scores, c.WithRank(1, 1));
  TF_RETURN_IF_ERROR(Shape({overlaps.dim(0)}).MergeWith({overlaps.dim(1)}).status());
  TF_RETURN_IF_ERROR(Shape({overlaps.dim(0)}).MergeWith(scores).status());
  TF_RETURN_IF_ERROR(CheckScalars(c, 2));
  c.set_output(0, {Shape::kUnknownDim});
  return OkStatus();
}

// The boxes are [batch, n, q, 4], where q is 1 or the number of classes. The scores are [batch, n, classes]. With
// pad_per_class, the outputs have min(max_total_size, max_output_size_per_class * classes) boxes per image, else
// max_total_size.
Status CombinedShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape boxes, c.WithRank(0, 4));
  TF_ASSIGN_OR_RETURN(const Shape scores, c.WithRank(1, 3));
  TF_RETURN_IF_ERROR(CheckScalars(c, 2));
  if (!Shape({boxes.dim(3)}).IsCompatibleWith({4})) {
    return InvalidArgument("boxes must have shape [batch, n, q, 4], got ", boxes);
  }
  if (boxes.dim(2) > 1 && scores.dim(2) >= 0 && boxes.dim(2) != scores.dim(2)) {
    return InvalidArgument("boxes must be for all classes or for each of the ", scores.dim(2), " classes, got shape ",
                           boxes);
  }
  TF_ASSIGN_OR_RETURN(const Shape both, Shape({boxes.dim(0), boxes.dim(1)}).MergeWith({scores.dim(0), scores.dim(1)}));
  int64_t size = Shape::kUnknownDim;
  const Tensor total = c.input_value(3), per_class = c.input_value(2);
  if (total.is_valid()) {
    size = total.scalar<int32_t>();
    if (size <= 0) return InvalidArgument("max_total_size must be positive, got ", size);
    if (c.attr<bool>("pad_per_class")) {
      if (per_class.is_valid() && scores.dim(2) >= 0) {
        int64_t most;
        if (per_class.scalar<int32_t>() <= 0) {
          return InvalidArgument("max_output_size_per_class must be positive, got ", per_class.ToString());
        }
        if (!__builtin_mul_overflow(int64_t{per_class.scalar<int32_t>()}, scores.dim(2), &most)) {
          size = std::min(size, most);
        }
      } else {
        size = Shape::kUnknownDim;
      }
    }
  }
  c.set_output(0, {both.dim(0), size, 4});
  c.set_output(1, {both.dim(0), size});
  c.set_output(2, {both.dim(0), size});
  c.set_output(3, {both.dim(0)});
  return OkStatus();
}

}  // namespace

void RegisterImageNonMaxSuppressionOps(OpRegistry& r) {
  constexpr const char* kFloats = "T: {half, float} = DT_FLOAT";
  constexpr const char* kThresholds = "T_threshold: {half, float} = DT_FLOAT";
  r.Add(Op("NonMaxSuppression")
            .Input("boxes: float")
            .Input("scores: float")
            .Input("max_output_size: int32")
            .Output("selected_indices: int32")
            .Attr("iou_threshold: float = 0.5")
            .Shape(SuppressionShape)
            .NotDifferentiable());
  r.Add(Op("NonMaxSuppressionV2")
            .Input("boxes: T")
            .Input("scores: T")
            .Input("max_output_size: int32")
            .Input("iou_threshold: T_threshold")
            .Output("selected_indices: int32")
            .Attr(kFloats)
            .Attr(kThresholds)
            .Shape(SuppressionShape)
            .NotDifferentiable());
  r.Add(Op("NonMaxSuppressionV3")
            .Input("boxes: T")
            .Input("scores: T")
            .Input("max_output_size: int32")
            .Input("iou_threshold: T_threshold")
            .Input("score_threshold: T_threshold")
            .Output("selected_indices: int32")
            .Attr(kFloats)
            .Attr(kThresholds)
            .Shape(SuppressionShape)
            .NotDifferentiable());
  r.Add(Op("NonMaxSuppressionV4")
            .Input("boxes: T")
            .Input("scores: T")
            .Input("max_output_size: int32")
            .Input("iou_threshold: T_threshold")
            .Input("score_threshold: T_threshold")
            .Output("selected_indices: int32")
            .Output("valid_outputs: int32")
            .Attr(kFloats)
            .Attr(kThresholds)
            .Attr("pad_to_max_output_size: bool = false")
            .Shape(SuppressionV4Shape)
            .NotDifferentiable());
  r.Add(Op("NonMaxSuppressionV5")
            .Input("boxes: T")
            .Input("scores: T")
            .Input("max_output_size: int32")
            .Input("iou_threshold: T")
            .Input("score_threshold: T")
            .Input("soft_nms_sigma: T")
            .Output("selected_indices: int32")
            .Output("selected_scores: T")
            .Output("valid_outputs: int32")
            .Attr(kFloats)
            .Attr("pad_to_max_output_size: bool = false")
            .Shape(SuppressionV5Shape)
            .NotDifferentiable());
  r.Add(Op("NonMaxSuppressionWithOverlaps")
            .Input("overlaps: float")
            .Input("scores: float")
            .Input("max_output_size: int32")
            .Input("overlap_threshold: float")
            .Input("score_threshold: float")
            .Output("selected_indices: int32")
            .Shape(OverlapsShape)
            .NotDifferentiable());
  r.Add(Op("CombinedNonMaxSuppression")
            .Input("boxes: float")
            .Input("scores: float")
            .Input("max_output_size_per_class: int32")
            .Input("max_total_size: int32")
            .Input("iou_threshold: float")
            .Input("score_threshold: float")
            .Output("nmsed_boxes: float")
            .Output("nmsed_scores: float")
            .Output("nmsed_classes: float")
            .Output("valid_detections: int32")
            .Attr("pad_per_class: bool = false")
            .Attr("clip_boxes: bool = true")
            .Shape(CombinedShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
