"""Images whose size only the step knows, similarity of images, files of images, random boxes."""

import struct

import numpy as np
from registry import Result, case, floats, ints, op

IMAGE = floats(6, 8, 3, low=0.0, high=1.0)
BATCH = floats(2, 12, 14, 3, low=0.0, high=1.0, seed=2)
OTHER = floats(2, 12, 14, 3, low=0.0, high=1.0, seed=3)
BYTES = ints(6, 8, 3, low=0, high=256, dtype=np.uint8)
BOXES = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]]], np.float32)
QUIET = {"names": False}


def bmp(pixels):
    """The BMP file of an array [height, width, 3] of bytes; a width that is a multiple of 4."""
    height, width, _ = pixels.shape
    data = pixels[::-1, :, ::-1].tobytes()
    return (b"BM" + struct.pack("<IHHI", 54 + len(data), 0, 0, 54)
            + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(data), 0, 0, 0, 0) + data)


# A GIF file with one picture of 2 x 2 pixels: white, black, black, white.
GIF = (
    b"GIF89a\x02\x00\x02\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x03"
       b"D\x02\x05\x00;")


def unknown(name, *args, shape=(None, None, 3), feed=IMAGE, **kwargs):
    """A case that calls the function with an image whose size is fed."""
    def run(tf):
        x = tf.placeholder(tf.float32, None if shape is None else list(shape))
        return Result(getattr(tf.image, name)(x, *args, **kwargs), feed={x: feed}, wrt=[x])
    case("image." + name, run, **QUIET)


for shape in ((None, None, 3), (None, 8, None), None):
    unknown("resize_image_with_crop_or_pad", 4, 9, shape=shape)
    unknown("resize_with_crop_or_pad", target_height=8, target_width=5, shape=shape)
    unknown("crop_to_bounding_box", 1, 2, 3, 4, shape=shape)
    unknown("pad_to_bounding_box", 1, 2, 9, 12, shape=shape)
    unknown("central_crop", 0.4, shape=shape)
    unknown("resize_image_with_pad", 5, 5, shape=shape)
unknown("crop_to_bounding_box", 1, 2, 30, 4)
unknown("pad_to_bounding_box", 1, 2, 3, 12)
unknown("central_crop", central_fraction=0.7, shape=(2, None, 14, 3), feed=BATCH)
unknown("resize_images", [3, 9], preserve_aspect_ratio=True)
unknown("resize_image_with_crop_or_pad", 4, 19, shape=(None, 12, None, 3), feed=BATCH)
for size in ((4, 9), (9, 4), (12, 20)):
    op("image.resize_image_with_pad", IMAGE, *size, _options=QUIET)
    op("image.resize_image_with_pad", BATCH, *size, method=1, align_corners=True, _options=QUIET)
op("image.resize_image_with_pad", IMAGE, 0, 5)
op("image.resize_image_with_pad", IMAGE[0], 5, 5)
case("image.ResizeMethod", lambda tf: [tf.image.resize_images(tf.constant(IMAGE), [3, 4], method) for method in (
    tf.image.ResizeMethod.BILINEAR, tf.image.ResizeMethod.NEAREST_NEIGHBOR, tf.image.ResizeMethod.BICUBIC,
    tf.image.ResizeMethod.AREA)], **QUIET)

op("image.sobel_edges", BATCH, _options=QUIET)
op("image.ssim", BATCH, OTHER, 1.0, _options=QUIET)
op("image.ssim", BATCH, OTHER, max_val=2.0, filter_size=5, filter_sigma=1.0, k1=0.02, k2=0.05, _options=QUIET)
op("image.ssim", BATCH[0], OTHER[0], 1.0, filter_size=3, return_index_map=True, _options=QUIET)
op("image.ssim", ints(12, 12, 1, low=0, high=256, dtype=np.uint8),
   ints(12, 12, 1, low=0, high=256, dtype=np.uint8, seed=4), 255,
   _options=QUIET)
op("image.ssim", BATCH, OTHER[:, :4], 1.0)
op("image.ssim", IMAGE, IMAGE, 1.0)  # smaller than the window
op("image.ssim_multiscale", BATCH, OTHER * 0.1 + BATCH * 0.9, 1.0, power_factors=(0.3, 0.7), filter_size=3,
   _options=QUIET)
op("image.ssim_multiscale", BATCH[0], OTHER[0] * 0.1 + BATCH[0] * 0.9, max_val=1.0, power_factors=[0.2, 0.3, 0.5],
   filter_size=3,
   filter_sigma=0.8, k1=0.02, k2=0.04, _options=QUIET)

case("image.decode_bmp io.decode_bmp", lambda tf: [
    tf.image.decode_bmp(bmp(BYTES), channels=3), tf.io.decode_bmp(bmp(BYTES), name="given"),
    tf.image.decode_image(bmp(BYTES))], **QUIET)
case("image.decode_bmp", lambda tf: tf.image.decode_bmp(b"no picture"))
case("image.decode_gif io.decode_gif", lambda tf: [
    tf.image.decode_gif(GIF, name="given"), tf.io.decode_gif(GIF), tf.io.decode_image(GIF, expand_animations=False)],
     **QUIET)
case("image.decode_gif", lambda tf: tf.image.decode_gif(b"GIF"))
case("image.extract_jpeg_shape io.extract_jpeg_shape", lambda tf: [
    tf.image.extract_jpeg_shape(tf.image.encode_jpeg(BYTES), output_type=tf.int64, name="given"),
    tf.io.extract_jpeg_shape(tf.image.encode_jpeg(BYTES[:, :, :1]))])
case("image.adjust_jpeg_quality",
     lambda tf: tf.abs(tf.image.adjust_jpeg_quality(tf.fill([8, 8, 3], 0.5), 95, name="given") - 0.5) < 0.02,
     **QUIET)
case("image.random_jpeg_quality",
     lambda tf: tf.abs(tf.image.random_jpeg_quality(tf.fill([8, 8, 1], 0.5), 80, 95, seed=3) - 0.5) < 0.02,
     **QUIET)
op("image.random_jpeg_quality", IMAGE, 80, 60)
op("image.random_jpeg_quality", IMAGE, 80, 160)

op("image.combined_non_max_suppression", np.tile(BOXES[:, :, None], [2, 1, 1, 1]), floats(2, 3, 2, low=0.0, high=1.0),
   2, 3,
   name="given", _options=QUIET)
op("image.combined_non_max_suppression", BOXES[:, :, None], floats(1, 3, 2, low=0.0, high=1.0), 2, 5, iou_threshold=0.3,
   score_threshold=0.4, pad_per_class=True, clip_boxes=False, _options=QUIET)
op("image.sample_distorted_bounding_box", [60, 80, 3], BOXES[:, :2] * np.float32(0.6), seed=3, seed2=5, name="given",
   _options=dict(QUIET))
op("image.sample_distorted_bounding_box", [60, 80, 3], BOXES[:, :1], 3, 4, 0.5, [0.9, 1.1], [0.2, 0.4], 50, True,
   _options=QUIET)
op("image.sample_distorted_bounding_box", [60, 80, 3], np.zeros([1, 0, 4], np.float32), seed=1)
op("image.extract_glimpse", BATCH, [3, 4], np.array([[0.1, 0.2], [-0.3, 0.0]], np.float32), name="given")
op("image.extract_glimpse", BATCH, [3, 4], np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), centered=False,
   normalized=False,
   uniform_noise=False)
op("image.extract_patches", floats(1, 4, 4, 1), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
op("image.extract_patches", floats(1, 4, 4, 2), sizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 2, 2, 1],
   padding="SAME",
   name="given")
