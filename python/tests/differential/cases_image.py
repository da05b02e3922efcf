"""Images."""

import zlib
import struct

import numpy as np
from registry import Result, Type, case, each, floats, ints, op

IMAGE = floats(4, 6, 3, low=0.0, high=1.0)
BATCH = floats(2, 4, 6, 3, low=0.0, high=1.0, seed=2)
BYTES = ints(4, 6, 3, low=0, high=256, dtype=np.uint8)
BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]], np.float32)
SCORES = np.array([0.9, 0.75, 0.6], np.float32)
QUIET = {"names": False}


def png(pixels):
    """The PNG file of an array [height, width, 3] of bytes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


for name in ("resize_bilinear", "resize_nearest_neighbor", "resize_bicubic"):
    op("image." + name, BATCH, [3, 5])
    op("image." + name, BATCH, [8, 5], align_corners=True, name="given")
    op("image." + name, BATCH, [8, 5], half_pixel_centers=True)
op("image.resize_area", BATCH, [3, 5])
op("image.resize_area", BATCH, [3, 5], align_corners=True, name="given")
for method in (0, 1, 2, 3):
    op("image.resize_images image.resize", BATCH, [8, 9], method)
    op("image.resize_images image.resize", IMAGE, [3, 9], method=method, align_corners=True, name="given",
       _options=QUIET)
op("image.resize_images", IMAGE, [8, 8], preserve_aspect_ratio=True, _options=QUIET)
op("image.resize_images", IMAGE, [4, 6], _options=QUIET)
op("image.resize_images", IMAGE, [4, 6, 1])
for name in ("flip_left_right", "flip_up_down", "transpose", "transpose_image", "rgb_to_grayscale", "rgb_to_hsv",
             "hsv_to_rgb",
             "rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "total_variation", "per_image_standardization"):
    op("image." + name, IMAGE, _options=QUIET)
    op("image." + name, BATCH, _options=QUIET)
op("image.image_gradients", BATCH, _options=QUIET)
op("image.rot90", IMAGE, _options=QUIET)
for k in (0, 2, 3, 5):
    op("image.rot90", BATCH, k=k, name="given", _options=QUIET)
op("image.grayscale_to_rgb", IMAGE[:, :, :1], name="given", _options=QUIET)
for name, factor in (("adjust_brightness", 0.2), ("adjust_contrast", 1.5), ("adjust_hue", 0.1),
                     ("adjust_saturation", 0.5),
                     ("adjust_gamma", 2.0)):
    op("image." + name, IMAGE, factor, _options=QUIET)
    op("image." + name, BYTES, factor, _options=QUIET)
op("image.adjust_gamma", IMAGE, gamma=0.5, gain=2.0, _options=QUIET)
for name, arguments in (("random_brightness", (0.3,)), ("random_contrast", (0.2, 1.8)), ("random_hue", (0.2,)),
                        ("random_saturation", (0.2, 1.8)), ("random_flip_left_right", ()), ("random_flip_up_down", ())):
    each("image." + name, lambda tf, f, a=arguments: Result(f(tf.constant(IMAGE), *a, seed=3), steps=3), names=False)
op("image.random_flip_left_right", BATCH, seed=4, _options=QUIET)
op("image.random_contrast", IMAGE, 1.0, 0.5)
for source, kind in ((IMAGE, "uint8"), (BYTES, "float32"), (IMAGE, "uint16"), (BYTES, "int16"), (BYTES, "uint16"),
                     (IMAGE, "float64"),
                     (ints(2, 2, 1, low=0, high=30000, dtype=np.int16), "uint8")):
    op("image.convert_image_dtype", source, Type(kind), _options=QUIET)
    op("image.convert_image_dtype", source, Type(kind), saturate=True, name="given", _options=QUIET)
op("image.psnr", IMAGE, floats(4, 6, 3, low=0.0, high=1.0, seed=5), 1.0, name="given", _options=QUIET)
op("image.crop_to_bounding_box", BATCH, 1, 2, 2, 3, _options=QUIET)
op("image.crop_to_bounding_box", IMAGE, 1, 2, 9, 3)
op("image.pad_to_bounding_box", IMAGE, 1, 2, 6, 9, _options=QUIET)
op("image.pad_to_bounding_box", IMAGE, 1, 2, 4, 9)
for size in ((2, 3), (6, 9), (2, 9)):
    op("image.resize_image_with_crop_or_pad image.resize_with_crop_or_pad", BATCH, *size, _options=QUIET)
op("image.central_crop", IMAGE, 0.5, _options=QUIET)
op("image.central_crop", BATCH, central_fraction=0.6, _options=QUIET)
op("image.central_crop", IMAGE, 1.5)
op("image.crop_and_resize", BATCH, BOXES[:2], [0, 1], [2, 2])
op("image.crop_and_resize", BATCH, BOXES[:2], box_indices=[0, 1], crop_size=[2, 2], method="nearest",
   extrapolation_value=7,
   name="given")
op("image.draw_bounding_boxes", BATCH, np.tile(BOXES[None, :1] * 0.8, [2, 1, 1]))
op("image.draw_bounding_boxes", BATCH, np.tile(BOXES[None, :1] * 0.8, [2, 1, 1]), colors=[[1.0, 0.0, 0.5]],
   name="given")
op("image.non_max_suppression", BOXES, SCORES, 3, name="given", _options=QUIET)
op("image.non_max_suppression", BOXES, SCORES, 3, iou_threshold=0.95, score_threshold=0.7, _options=QUIET)
op("image.non_max_suppression_with_scores", BOXES, SCORES, 3, soft_nms_sigma=0.5, name="given", _options=QUIET)
op("image.non_max_suppression_padded", BOXES, SCORES, 3, pad_to_max_output_size=True, name="given", _options=QUIET)
op("image.non_max_suppression_overlaps", np.eye(3, dtype=np.float32), SCORES, 2, overlap_threshold=0.9, name="given",
   _options=QUIET)
case("image.decode_png io.decode_png image.decode_image io.decode_image", lambda tf: [
    tf.image.decode_png(png(BYTES), channels=1), tf.io.decode_png(png(BYTES), dtype=tf.uint16, name="given"),
    tf.image.decode_image(png(BYTES), channels=3, name="i")], names=False)
case("image.encode_png io.encode_png",
     lambda tf: tf.image.decode_png(tf.image.encode_png(BYTES, compression=9, name="given")),
     names=False)
case(
    "image.encode_jpeg io.encode_jpeg image.decode_jpeg io.decode_jpeg image.is_jpeg io.is_jpeg "
    "image.decode_and_crop_jpeg "
     "io.decode_and_crop_jpeg", lambda tf: [
         tf.shape(tf.image.decode_jpeg(tf.image.encode_jpeg(BYTES, quality=100, name="given"), channels=1)),
         tf.image.is_jpeg(tf.io.encode_jpeg(BYTES, quality=50), name="is"), tf.io.is_jpeg("abc"),
         tf.shape(tf.image.decode_and_crop_jpeg(tf.io.encode_jpeg(BYTES, quality=50), [1, 1, 2, 3], channels=3))],
    names=False)
