"""The namespace tf.image."""

from tensorbraid.arrays import extract_image_patches  # noqa: F401
from tensorbraid.image_ops import (  # noqa: F401
    ResizeMethod, adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_saturation, central_crop,
    convert_image_dtype, crop_and_resize, crop_to_bounding_box, decode_and_crop_jpeg, decode_bmp, decode_gif,
    decode_image, decode_jpeg, decode_png, draw_bounding_boxes, encode_jpeg, encode_png, flip_left_right,
    flip_up_down, grayscale_to_rgb, hsv_to_rgb, image_gradients, is_jpeg, non_max_suppression,
    non_max_suppression_overlaps, non_max_suppression_padded, non_max_suppression_with_scores, pad_to_bounding_box,
    per_image_standardization, psnr, random_brightness, random_contrast, random_flip_left_right, random_flip_up_down,
    random_hue, random_saturation, resize_area, resize_bicubic, resize_bilinear, resize_image_with_crop_or_pad,
    resize_image_with_crop_or_pad as resize_with_crop_or_pad, resize_images, resize_images as resize,
    resize_nearest_neighbor, rgb_to_grayscale, rgb_to_hsv, rgb_to_yiq, rgb_to_yuv, rot90, total_variation, transpose,
    transpose as transpose_image, yiq_to_rgb, yuv_to_rgb)
from tensorbraid.random_ops import random_crop  # noqa: F401
