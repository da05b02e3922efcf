"""Rows of the image ops, except those that decode or encode files (image_coding.py)."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float16, bf16, np.float32, np.float64]
PIXELS = FLOATS + [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64]
FLAGS = [dict(), dict(align_corners=True), dict(half_pixel_centers=True)]


def images(batch, height, width, channels, dtype=np.float32):
    rng = np.random.RandomState(height * 100 + width * 10 + channels)
    return rng.randint(0, 120, (batch, height, width, channels)).astype(dtype)


def size(height, width):
    return np.array([height, width], np.int32)


def resize_cases(t):
    for op in ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"]:
        flags = FLAGS[:2] if op == "ResizeArea" else FLAGS
        # Cubic weights have both signs, so a small pixel can be the difference of large numbers.
        near = {"tolerance": 1e-4} if op == "ResizeBicubic" else {}
        for d in PIXELS:
            for f in flags:
                t.case(op, images(1, 3, 4, 1, d), size(5, 3), **f, **near)
        for f in flags:
            for height, width in [(1, 1), (2, 7), (11, 4), (5, 6)]:
                t.case(op, images(2, 5, 6, 3), size(height, width), **f, **near)
            t.case(op, images(1, 1, 1, 2), size(3, 2), **f, **near)
            t.case(op, images(1, 1, 9, 1), size(2, 4), **f, **near)
        t.case(op, images(0, 2, 2, 1), size(3, 3))
        t.case(op, images(1, 0, 2, 1), size(3, 3))
        t.case(op, images(1, 2, 2, 0), size(3, 3))
        t.case(op, images(1, 2, 2, 1), size(0, 3))
        t.case(op, images(1, 2, 2, 1), size(3, -1))
        t.case(op, images(1, 2, 2, 1), np.array([3], np.int32))
        t.case(op, images(1, 2, 2, 1), np.int32(3))
        t.case(op, images(1, 2, 2, 1)[0], size(3, 3))
        if op != "ResizeArea":
            t.case(op, images(1, 2, 2, 1), size(3, 3), align_corners=True, half_pixel_centers=True)
    for op, types in [("ResizeBilinearGrad", FLOATS), ("ResizeBicubicGrad", [np.float32, np.float64])]:
        for d in types:
            for f in FLAGS:
                t.case(op, images(1, 5, 3, 1) / 8, images(1, 3, 4, 1, d), tolerance=1e-5 if d == np.float64 else None, **f)
        for f in FLAGS:
            t.case(op, images(2, 7, 2, 3) / 8, images(2, 4, 5, 3), **f)
            t.case(op, images(2, 1, 1, 1) / 8, images(2, 4, 3, 1), **f)
        # TensorFlow ignores the channels of the images.
        t.case(op, images(1, 2, 2, 1), images(1, 2, 2, 2), expected="INVALID_ARGUMENT")
        t.case(op, images(1, 2, 2, 1), images(1, 2, 2, 1)[0])
    for d in FLOATS + [np.uint8, np.int8, np.int32]:
        for f in FLAGS:
            t.case("ResizeNearestNeighborGrad", (images(1, 5, 3, 1) / 8).astype(d), size(3, 4), **f)
    for f in FLAGS:
        t.case("ResizeNearestNeighbor", images(1, 3, 4, 1, np.float64), size(5, 3), gradient=[0], **f)
        t.case("ResizeNearestNeighborGrad", images(2, 7, 2, 3) / 8, size(4, 5), **f)
    t.case("ResizeNearestNeighborGrad", images(1, 5, 3, 1), size(0, 4))
    t.case("ResizeNearestNeighborGrad", images(1, 5, 3, 1)[0], size(3, 4))
    low, high = np.float32(0), np.float32(1)
    for f in FLAGS:
        t.case("QuantizedResizeBilinear", images(1, 3, 4, 2), size(5, 3), low, high, **f)
    t.case("QuantizedResizeBilinear", images(1, 3, 4, 2), size(5, 3), low, np.ones([1], np.float32))


def scale_cases(t):
    pair = lambda a, b: np.array([a, b], np.float32)
    for kernel in ["lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"]:
        for antialias in [True, False]:
            flags = dict(kernel_type=kernel, antialias=antialias, tolerance=1e-4)
            for height, width, scale, move in [(7, 3, (1.4, 0.5), (0, 0)), (4, 9, (0.7, 1.6), (0.5, -1.25))]:
                t.case("ScaleAndTranslate", images(2, 5, 6, 3), size(height, width), pair(*scale), pair(*move), **flags)
                t.case("ScaleAndTranslateGrad", images(2, height, width, 3), images(2, 5, 6, 3), pair(*scale),
                       pair(*move), **flags)
    for d in PIXELS:
        t.case("ScaleAndTranslate", images(1, 3, 4, 1, d), size(2, 5), pair(0.6, 1.3), pair(0, 0), tolerance=1e-4)
    t.case("ScaleAndTranslate", images(1, 3, 4, 1), size(5, 5), pair(1, 1), pair(30, -2), tolerance=1e-4)
    t.case("ScaleAndTranslate", images(0, 3, 4, 1), size(5, 5), pair(1, 1), pair(0, 0))
    t.case("ScaleAndTranslate", images(1, 3, 4, 1), size(5, 5), pair(0, 1), pair(0, 0))
    t.case("ScaleAndTranslate", images(1, 3, 4, 1), size(5, 0), pair(1, 1), pair(0, 0))
    t.case("ScaleAndTranslate", images(1, 3, 4, 1), size(5, 5), np.ones([3], np.float32), pair(0, 0))
    t.case("ScaleAndTranslate", images(1, 3, 4, 1), size(5, 5), pair(1, 1), pair(0, 0), kernel_type="sinc")
    t.case("ScaleAndTranslate", images(1, 3, 4, 1)[0], size(5, 5), pair(1, 1), pair(0, 0))


def crop_cases(t):
    boxes = np.array([[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.8, 0.9, 0.2, 0.1], [-0.3, 0.5, 0.6, 1.4]], np.float32)
    which = np.array([0, 1, 1, 0], np.int32)
    image = images(2, 5, 6, 3)
    for method in ["bilinear", "nearest"]:
        for crop in [(3, 4), (1, 1), (1, 5), (8, 1)]:
            t.case("CropAndResize", image, boxes, which, size(*crop), method=method, extrapolation_value=-7.0)
            grads = images(4, *crop, 3) / 8
            for d in [np.float16, np.float32, np.float64]:
                t.case("CropAndResizeGradImage", grads, boxes, which, np.array([2, 5, 6, 3], np.int32),
                       T=tf.as_dtype(d), method=method, tolerance=4e-3 if d == np.float16 else 1e-5)
    for crop in [(3, 4), (1, 1), (1, 5), (8, 1)]:
        t.case("CropAndResizeGradBoxes", images(4, *crop, 3) / 64, image / 64, boxes, which, tolerance=1e-4)
    for d in [np.uint8, np.uint16, np.int8, np.int16, np.int32, np.int64, np.float16, np.float64]:
        t.case("CropAndResize", image.astype(d), boxes, which, size(3, 4))
        t.case("CropAndResizeGradBoxes", images(4, 2, 2, 3) / 64, image.astype(d), boxes, which, tolerance=1e-4)
    t.case("CropAndResize", image, boxes[:0], which[:0], size(3, 4))
    t.case("CropAndResize", image, boxes, which + 1, size(3, 4))
    t.case("CropAndResize", image, boxes, which - 1, size(3, 4))
    t.case("CropAndResize", image, boxes, which[:2], size(3, 4))
    t.case("CropAndResize", image, boxes[:, :3], which, size(3, 4))
    t.case("CropAndResize", image, boxes, which, size(0, 4))
    t.case("CropAndResize", image, boxes[0, :0], which[:0], size(3, 4))
    t.case("CropAndResize", image, boxes, which + 1, size(2**31 - 1, 2**31 - 1))
    for bad in (np.nan, np.inf, -np.inf):
        t.case("CropAndResize", image, np.where(boxes == boxes[1, 2], np.float32(bad), boxes), which, size(3, 4))
    t.case("CropAndResize", image[0], boxes, which, size(3, 4))
    t.case("CropAndResizeGradImage", images(4, 3, 4, 3), boxes, which + 1, np.array([2, 5, 6, 3], np.int32), T=tf.float32)
    t.case("CropAndResizeGradImage", images(4, 3, 4, 3), boxes, which, np.array([2, 5, 6, 2], np.int32), T=tf.float32)
    t.case("CropAndResizeGradBoxes", images(3, 3, 4, 3), image, boxes, which)
    for version in ["ExtractGlimpse", "ExtractGlimpseV2"]:
        for centered in [True, False]:
            for normalized in [True, False]:
                for offsets in [(0.0, 0.0), (0.3, -0.4), (2.0, 3.0), (-1.0, 1.0), (0.5, 0.5)]:
                    t.case(version, images(2, 7, 9, 2), size(3, 4), np.array([offsets, offsets[::-1]], np.float32),
                           centered=centered, normalized=normalized, uniform_noise=False, noise="zero")
        t.case(version, images(2, 7, 9, 2), size(0, 4), np.zeros([2, 2], np.float32))
        t.case(version, images(2, 7, 9, 2), size(3, 4), np.zeros([1, 2], np.float32))
        t.case(version, images(2, 7, 9, 2), size(3, 4), np.zeros([2, 2], np.float32), uniform_noise=False, noise="pink")


def patch_cases(t):
    types = FLOATS + [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
    for d in types + [np.complex64, np.complex128]:
        t.case("ExtractImagePatches", images(1, 3, 4, 2, d), ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1],
               rates=[1, 1, 1, 1], padding="VALID")
    for d in types:
        t.case("ExtractVolumePatches", images(1, 6, 4, 1, d).reshape(1, 3, 2, 4, 1), ksizes=[1, 2, 1, 2, 1],
               strides=[1, 1, 1, 2, 1], padding="SAME")
    for padding in ["SAME", "VALID"]:
        for k, s, r in [((2, 3), (1, 1), (1, 1)), ((3, 2), (2, 3), (1, 1)), ((2, 2), (1, 2), (2, 3)), ((1, 1), (3, 3), (1, 1))]:
            t.case("ExtractImagePatches", images(2, 5, 6, 2, np.float64), ksizes=[1, *k, 1], strides=[1, *s, 1],
                   rates=[1, *r, 1], padding=padding, gradient=[0])
        for k, s in [((2, 2, 2), (1, 1, 1)), ((1, 3, 2), (2, 1, 3))]:
            t.case("ExtractVolumePatches", images(2, 6, 4, 2, np.float64).reshape(2, 3, 4, 2, 2), ksizes=[1, *k, 1],
                   strides=[1, *s, 1], padding=padding, gradient=[0])
        t.case("ExtractImagePatches", images(0, 5, 6, 2), ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1],
               padding=padding)
    one = [1, 1, 1, 1]
    t.case("ExtractImagePatches", images(1, 2, 2, 1), ksizes=[1, 3, 3, 1], strides=one, rates=one, padding="VALID",
           expected="INVALID_ARGUMENT")  # TensorFlow's shape rule refuses it, its kernel does not
    t.case("ExtractImagePatches", images(1, 2, 2, 1), ksizes=[2, 1, 1, 1], strides=one, rates=one, padding="VALID",
           expected="INVALID_ARGUMENT")  # UNIMPLEMENTED in TensorFlow
    t.case("ExtractImagePatches", images(1, 2, 2, 1), ksizes=one, strides=[1, 0, 1, 1], rates=one, padding="VALID",
           expected="INVALID_ARGUMENT")  # some releases of TensorFlow divide by zero
    t.case("ExtractImagePatches", images(1, 2, 2, 1)[0], ksizes=one, strides=one, rates=one, padding="VALID")


def color_cases(t):
    rng = np.random.RandomState(5)
    colors = rng.rand(2, 3, 4, 3)
    colors[0, 0, 0] = [0.5, 0.5, 0.5]
    colors[0, 0, 1] = [0, 0, 0]
    colors[0, 0, 2] = [1, 1, 0]
    for d in FLOATS:
        # A hue near 0 may come out near 1.
        t.case("RGBToHSV", colors.astype(d), tolerance=5e-2 if d == bf16 else None)
        t.case("HSVToRGB", colors.astype(d), tolerance=5e-2 if d == bf16 else None)
    distinct = np.array([[0.2, 0.5, 0.9], [0.7, 0.3, 0.1], [0.4, 0.8, 0.6], [0.9, 0.2, 0.35], [0.1, 0.6, 0.25],
                         [0.3, 0.15, 0.77]])
    t.case("RGBToHSV", distinct, gradient=[0])
    t.case("RGBToHSV", distinct.reshape(1, 3, 2, 3), gradient=[0])
    t.case("RGBToHSV", np.zeros([0, 3], np.float32))
    # If the shape is known only when the step runs, TensorFlow's kernels return FAILED_PRECONDITION.
    t.case("RGBToHSV", np.zeros([2, 4], np.float32), expected="INVALID_ARGUMENT")
    t.case("HSVToRGB", np.zeros([2, 4], np.float32), expected="INVALID_ARGUMENT")
    t.case("HSVToRGB", np.float32(1))
    scalar = np.float32
    for delta in [-0.9, -0.2, 0.0, 0.35, 1.0]:
        t.case("AdjustHue", colors.astype(np.float32), scalar(delta))
        t.case("AdjustSaturation", colors.astype(np.float32), scalar(delta * 2))
        t.case("AdjustContrastv2", colors.astype(np.float32), scalar(delta * 2))
    # TensorFlow has half on GPUs only. With these factors the images do not change.
    half = colors.astype(np.float16)
    for op, factor in [("AdjustHue", 1), ("AdjustSaturation", 1), ("AdjustContrastv2", 1)]:
        t.case(op, half, scalar(factor), expected=[half])
        t.case(op, np.zeros([0, 2, 2, 3], np.float32), scalar(0.3))
        t.case(op, colors.astype(np.float32), np.ones([1], np.float32))
        t.case(op, colors.astype(np.float32)[0, 0], scalar(0.3))
        if op != "AdjustContrastv2":
            t.case(op, np.zeros([2, 2, 2, 4], np.float32), scalar(0.3))
    # TensorFlow's clients cannot send AdjustContrast any more, but old graphs have it.
    for d in [np.uint8, np.int8, np.int16, np.int32, np.float32, np.float64]:
        x = images(2, 3, 4, 3, d)
        mean = x.mean((1, 2), np.float64, keepdims=True)
        t.case("AdjustContrast", x, scalar(1.7), scalar(5), scalar(100),
               expected=[np.clip((x - mean) * 1.7 + mean, 5, 100).astype(np.float32)])
    t.case("AdjustContrast", images(2, 3, 4, 3), scalar(1.7), scalar(5), np.ones([1], np.float32),
           expected="INVALID_ARGUMENT")


def box_cases(t):
    boxes = np.array([[[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1], [-0.5, 0.3, 0.5, 1.5], [0.6, 0.6, 0.2, 0.2], [2, 2, 3, 3]],
                      [[0.5, 0.5, 0.5, 0.5], [0.2, -1, 0.4, 0.3], [0.1, 0.1, 0.2, 0.2], [0, 0.9, 0.2, 1], [0.3, 0, 0.9, 1]]],
                     np.float32)
    colors = np.array([[9, 8, 7, 6], [1, 2, 3, 4]], np.float32)
    for channels in [1, 3, 4]:
        for d in [np.float16, np.float32]:
            t.case("DrawBoundingBoxes", images(2, 7, 9, channels, d), boxes)
            t.case("DrawBoundingBoxesV2", images(2, 7, 9, channels, d), boxes, colors)
    t.case("DrawBoundingBoxesV2", images(2, 7, 9, 3), boxes, np.zeros([0, 4], np.float32))
    t.case("DrawBoundingBoxes", images(2, 7, 9, 3), np.zeros([2, 12, 4], np.float32))
    t.case("DrawBoundingBoxes", images(2, 7, 9, 2), boxes)
    t.case("DrawBoundingBoxes", images(2, 7, 9, 3), boxes[:1])
    t.case("DrawBoundingBoxes", images(2, 7, 9, 3), boxes[:, :, :3])
    t.case("DrawBoundingBoxesV2", images(2, 7, 9, 3), boxes, np.zeros([2, 1], np.float32))
    objects = np.array([[[0.1, 0.2, 0.5, 0.6], [0.3, 0.3, 0.9, 0.8]]], np.float32)
    op = "StatelessSampleDistortedBoundingBox"
    usual = dict(aspect_ratio_range=[0.75, 1.33], area_range=[0.05, 1.0])
    for i, (height, width) in enumerate([(60, 90), (37, 21), (100, 100), (5, 120)]):
        for d in [np.int32, np.int64, np.int16, np.int8, np.uint8]:
            if max(height, width) > 127 and d == np.int8:
                continue
            t.case(op, np.array([height, width, 3], d), objects, np.float32(0.1), np.array([7, i], np.int32), **usual)
        for seed in range(4):
            t.case(op, np.array([height, width, 3], np.int32), objects, np.float32(0.6), np.array([seed, 3], np.int64),
                   aspect_ratio_range=[0.5, 2.0], area_range=[0.2, 0.9], max_attempts=20)
    image = np.array([60, 90, 3], np.int32)
    seed = np.array([1, 2], np.int32)
    none = np.zeros([1, 0, 4], np.float32)
    t.case(op, image, none, np.float32(0.1), seed, use_image_if_no_bounding_boxes=True, **usual)
    t.case(op, image, none, np.float32(0.1), seed, **usual)
    t.case(op, image, objects + np.float32(0.5), np.float32(0.1), seed, **usual)
    t.case(op, image, objects, np.float32(-0.1), seed, **usual)
    t.case(op, image, objects, np.float32(0.1), seed, max_attempts=0, **usual)
    t.case(op, image, objects, np.float32(0.1), seed, **(usual | dict(area_range=[0.5, 1.5])))
    t.case(op, image, objects, np.float32(0.1), seed, **(usual | dict(aspect_ratio_range=[0.5])))
    t.case(op, image[:2], objects, np.float32(0.1), seed, **usual)


def suppression_cases(t):
    rng = np.random.RandomState(11)
    corners = rng.rand(12, 2)
    boxes = np.concatenate([corners, corners + 0.1 + 0.4 * rng.rand(12, 2)], 1).astype(np.float32)
    boxes[3] = boxes[5]
    boxes[4] = boxes[6][[2, 3, 0, 1]]  # corners in another order
    scores = rng.rand(12).astype(np.float32)
    scores[7] = scores[8]
    count = np.int32
    for n in [0, 1, 4, 30]:
        for iou in [0.0, 0.3, 0.5, 1.0]:
            t.case("NonMaxSuppression", boxes, scores, count(n), iou_threshold=iou)
            t.case("NonMaxSuppressionV2", boxes, scores, count(n), np.float32(iou))
            t.case("NonMaxSuppressionV3", boxes, scores, count(n), np.float32(iou), np.float32(0.4))
            for pad in [False, True]:
                t.case("NonMaxSuppressionV4", boxes, scores, count(n), np.float32(iou), np.float32(0.4),
                       pad_to_max_output_size=pad)
                for sigma in [0.0, 0.4]:
                    t.case("NonMaxSuppressionV5", boxes, scores, count(n), np.float32(iou), np.float32(0.2),
                           np.float32(sigma), pad_to_max_output_size=pad)
    half = np.float16
    t.case("NonMaxSuppressionV2", boxes.astype(half), scores.astype(half), count(5), half(0.5))
    t.case("NonMaxSuppressionV3", boxes.astype(half), scores.astype(half), count(5), np.float32(0.5), np.float32(0.1))
    t.case("NonMaxSuppressionV4", boxes.astype(half), scores.astype(half), count(5), np.float32(0.5), np.float32(0.1))
    t.case("NonMaxSuppressionV5", boxes.astype(half), scores.astype(half), count(5), half(0.5), half(0.1), half(0))
    empty = [np.zeros([0, 4], np.float32), np.zeros([0], np.float32), count(3)]
    t.case("NonMaxSuppression", *empty)
    t.case("NonMaxSuppressionV4", *empty, np.float32(0.5), np.float32(0), pad_to_max_output_size=True)
    for bad in [(boxes, scores[:5], count(3)), (boxes[:, :3], scores, count(3)), (boxes, scores, count(-1)),
                (boxes, scores, np.array([3], np.int32)), (boxes[0], scores, count(3))]:
        t.case("NonMaxSuppression", *bad)
    t.case("NonMaxSuppressionV3", boxes, scores, count(3), np.float32(1.5), np.float32(0))
    t.case("NonMaxSuppressionV5", boxes, scores, count(3), np.float32(0.5), np.float32(0), np.float32(-1))
    overlaps = rng.rand(12, 12).astype(np.float32)
    for n in [0, 3, 30]:
        t.case("NonMaxSuppressionWithOverlaps", overlaps, scores, count(n), np.float32(0.6), np.float32(0.2))
    t.case("NonMaxSuppressionWithOverlaps", overlaps[:5], scores, count(3), np.float32(0.6), np.float32(0.2))
    op = "CombinedNonMaxSuppression"
    for q in [1, 3]:
        many = np.stack([boxes[rng.permutation(12)] for _ in range(2 * q)]).reshape(2, q, 12, 4).transpose(0, 2, 1, 3)
        of_class = rng.rand(2, 12, 3).astype(np.float32)
        for pad in [False, True]:
            for clip in [False, True]:
                t.case(op, many, of_class, count(3), count(7), np.float32(0.4), np.float32(0.3), pad_per_class=pad,
                       clip_boxes=clip)
        t.case(op, many, of_class, count(2), count(20), np.float32(0.4), np.float32(0.3), pad_per_class=True)
        t.case(op, many, of_class[:, :5], count(2), count(20), np.float32(0.4), np.float32(0.3))
        t.case(op, many, of_class, count(0), count(20), np.float32(0.4), np.float32(0.3))
        t.case(op, many, of_class, count(2), count(0), np.float32(0.4), np.float32(0.3))
        t.case(op, many, of_class, count(2), count(5), np.float32(1.4), np.float32(0.3))
    t.case(op, np.zeros([2, 12, 2, 4], np.float32), of_class, count(2), count(5), np.float32(0.4), np.float32(0.3))


def projective_cases(t):
    turns = np.array([[0.9, -0.3, 1.2, 0.4, 1.1, -0.7, 0.01, 0.02], [1, 0, -2, 0, 1, 1, 0, 0]], np.float32)
    for mode in ["CONSTANT", "REFLECT", "WRAP", "NEAREST"]:
        for interpolation in ["NEAREST", "BILINEAR"]:
            flags = dict(interpolation=interpolation, fill_mode=mode)
            t.case("ImageProjectiveTransformV2", images(2, 5, 6, 3), turns, size(5, 6), tolerance=1e-4, **flags)
            t.case("ImageProjectiveTransformV3", images(2, 5, 6, 3), turns[:1], size(7, 9), np.float32(-3),
                   tolerance=1e-4, **flags)
            far = np.array([[3, 0, -17, 0, 4, -25, 0, 0]], np.float32)
            t.case("ImageProjectiveTransformV3", images(2, 5, 6, 1), far, size(9, 9), np.float32(-3), tolerance=1e-4,
                   **flags)
    for d in [np.uint8, np.int32, np.int64, np.float16, np.float32, np.float64]:
        t.case("ImageProjectiveTransformV3", images(2, 5, 6, 1, d), turns, size(4, 4), np.float32(5),
               interpolation="NEAREST")
    t.case("ImageProjectiveTransformV3", images(2, 5, 6, 1, np.float64), turns[1:], size(4, 4), np.float32(0),
           interpolation="NEAREST", gradient=[0])
    t.case("ImageProjectiveTransformV2", images(2, 5, 6, 1, np.float64), turns[1:], size(5, 6),
           interpolation="NEAREST", gradient=[0])
    bad = [(images(2, 5, 6, 3), turns[:, :7], size(4, 4)), (images(2, 5, 6, 3)[0], turns, size(4, 4)),
           (images(3, 5, 6, 3), turns, size(4, 4)), (images(2, 5, 6, 3), turns, size(0, 4)),
           (images(2, 5, 6, 3), turns, np.array([4], np.int32))]
    for b in bad:
        t.case("ImageProjectiveTransformV2", *b, interpolation="NEAREST")
    # In place of a mode that it does not know, TensorFlow uses another one.
    for flags in [dict(interpolation="CUBIC"), dict(interpolation="NEAREST", fill_mode="X")]:
        t.case("ImageProjectiveTransformV2", images(2, 5, 6, 3), turns, size(4, 4), expected="INVALID_ARGUMENT", **flags)


def add_cases(t):
    resize_cases(t)
    scale_cases(t)
    crop_cases(t)
    patch_cases(t)
    color_cases(t)
    box_cases(t)
    suppression_cases(t)
    projective_cases(t)
