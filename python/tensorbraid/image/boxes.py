"""Boxes in images: those that overlap, their contents, and how they are drawn."""

from tensorbraid import dtypes
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.internal.op_results import results_class
from tensorbraid.ops.old_arguments import renamed

_Combined = results_class("CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections")
_Sampled = results_class("SampleDistortedBoundingBoxV2", "begin size bboxes")


def crop_and_resize(image, boxes, box_ind=None, crop_size=None, method="bilinear", extrapolation_value=0, name=None,
                    box_indices=None):
    """The parts of images in boxes, each in the same size."""
    box_ind = renamed("box_indices", box_indices, "box_ind", box_ind)
    return make_op("CropAndResize", [image, boxes, box_ind, crop_size], name or "CropAndResize", method=method,
                   extrapolation_value=extrapolation_value).outputs[0]


def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """The images with boxes drawn on them."""
    if colors is None:
        return make_op("DrawBoundingBoxes", [images, boxes], name or "DrawBoundingBoxes").outputs[0]
    return make_op("DrawBoundingBoxesV2", [images, boxes, colors], name or "DrawBoundingBoxesV2").outputs[0]


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    """The numbers of the boxes with the highest scores that do not overlap a better one too much."""
    with name_scope(name, "non_max_suppression"):
        return make_op("NonMaxSuppressionV3",
                       [boxes, scores, max_output_size, iou_threshold, score_threshold]).outputs[0]


def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                                    soft_nms_sigma=0.0, name=None):
    """As non_max_suppression, with the scores of the chosen boxes."""
    with name_scope(name, "non_max_suppression_with_scores"):
        made = make_op("NonMaxSuppressionV5", [boxes, scores, max_output_size, iou_threshold, score_threshold,
                                               soft_nms_sigma], pad_to_max_output_size=False).outputs
        return made[0], made[1]


def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                               pad_to_max_output_size=False, name=None, sorted_input=False,
                               canonicalized_coordinates=False, tile_size=512):
    """As non_max_suppression, with zeros up to `max_output_size`, and the number of the chosen boxes."""
    if sorted_input or canonicalized_coordinates or tile_size != 512:
        raise NotImplementedError("sorted_input, canonicalized_coordinates and tile_size of non_max_suppression_padded")
    with name_scope(name, "non_max_suppression_padded"):
        made = make_op("NonMaxSuppressionV4", [boxes, scores, max_output_size, iou_threshold, score_threshold],
                       pad_to_max_output_size=pad_to_max_output_size).outputs
        return made[0], made[1]


def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5,
                                 score_threshold=float("-inf"), name=None):
    """As non_max_suppression, with the overlaps of all pairs of boxes given."""
    with name_scope(name, "non_max_suppression_overlaps"):
        return make_op("NonMaxSuppressionWithOverlaps",
                       [overlaps, scores, max_output_size, overlap_threshold, score_threshold]).outputs[0]


def combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold=0.5,
                                 score_threshold=float("-inf"), pad_per_class=False, clip_boxes=True, name=None):
    """non_max_suppression for each class of each image of a batch, and the best boxes of all classes."""
    with name_scope(name, "combined_non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, dtypes.float32, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, dtypes.float32, name="score_threshold")
        made = make_op("CombinedNonMaxSuppression",
                       [boxes, scores, max_output_size_per_class, convert_to_tensor(max_total_size), iou_threshold,
                        score_threshold], pad_per_class=pad_per_class, clip_boxes=clip_boxes)
        return _Combined(*made.outputs)


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=None, seed2=None, min_object_covered=0.1,
                                  aspect_ratio_range=None, area_range=None, max_attempts=None,
                                  use_image_if_no_bounding_boxes=None, name=None):
    """A random part of an image that has enough of one of the boxes: its begin, its size, and its box."""
    with name_scope(name, "sample_distorted_bounding_box"):
        made = make_op("SampleDistortedBoundingBoxV2", [image_size, bounding_boxes, min_object_covered], name,
                       seed=seed, seed2=seed2, aspect_ratio_range=aspect_ratio_range, area_range=area_range,
                       max_attempts=max_attempts, use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes)
        return _Sampled(*made.outputs)


def extract_glimpse(input, size, offsets, centered=True, normalized=True, uniform_noise=True, name=None):
    """Parts of images around points; what lies outside of an image is noise."""
    return make_op("ExtractGlimpse", [input, size, offsets], name or "ExtractGlimpse", centered=centered,
                   normalized=normalized, uniform_noise=uniform_noise).outputs[0]
