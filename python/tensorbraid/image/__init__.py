"""The namespace tf.image."""

from tensorbraid.image.boxes import (  # noqa: F401
    combined_non_max_suppression, crop_and_resize, draw_bounding_boxes, extract_glimpse, non_max_suppression,
    non_max_suppression_overlaps, non_max_suppression_padded, non_max_suppression_with_scores,
    sample_distorted_bounding_box)
from tensorbraid.image.colors import (  # noqa: F401
    adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_saturation, convert_image_dtype,
    grayscale_to_rgb, hsv_to_rgb, per_image_standardization, random_brightness, random_contrast, random_hue,
    random_saturation, rgb_to_grayscale, rgb_to_hsv, rgb_to_yiq, rgb_to_yuv, yiq_to_rgb, yuv_to_rgb)
from tensorbraid.image.crops import (  # noqa: F401
    central_crop, crop_to_bounding_box, pad_to_bounding_box, resize_image_with_crop_or_pad,
    resize_image_with_crop_or_pad as resize_with_crop_or_pad, resize_image_with_pad)
from tensorbraid.image.files import (  # noqa: F401
    adjust_jpeg_quality, decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png,
    encode_jpeg, encode_png, extract_jpeg_shape, is_jpeg, random_jpeg_quality)
from tensorbraid.image.flips import (  # noqa: F401
    flip_left_right, flip_up_down, random_flip_left_right, random_flip_up_down, rot90, transpose, transpose as
    transpose_image)
from tensorbraid.image.measures import (  # noqa: F401
    image_gradients, psnr, sobel_edges, ssim, ssim_multiscale, total_variation)
from tensorbraid.image.sizes import (  # noqa: F401
    ResizeMethod, resize_area, resize_bicubic, resize_bilinear, resize_images, resize_images as resize,
    resize_nearest_neighbor)
from tensorbraid.ops.random_ops import random_crop  # noqa: F401
from tensorbraid.ops.space_blocks import extract_image_patches, extract_patches  # noqa: F401

__all__ = [
    "ResizeMethod", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_jpeg_quality",
    "adjust_saturation", "central_crop", "combined_non_max_suppression", "convert_image_dtype", "crop_and_resize",
    "crop_to_bounding_box", "decode_and_crop_jpeg", "decode_bmp", "decode_gif", "decode_image", "decode_jpeg",
    "decode_png", "draw_bounding_boxes", "encode_jpeg", "encode_png", "extract_glimpse", "extract_image_patches",
    "extract_jpeg_shape", "extract_patches", "flip_left_right", "flip_up_down", "grayscale_to_rgb", "hsv_to_rgb",
    "image_gradients", "is_jpeg", "non_max_suppression", "non_max_suppression_overlaps", "non_max_suppression_padded",
    "non_max_suppression_with_scores", "pad_to_bounding_box", "per_image_standardization", "psnr", "random_brightness",
    "random_contrast", "random_crop", "random_flip_left_right", "random_flip_up_down", "random_hue",
    "random_jpeg_quality", "random_saturation", "resize", "resize_area", "resize_bicubic", "resize_bilinear",
    "resize_image_with_crop_or_pad", "resize_image_with_pad", "resize_images", "resize_nearest_neighbor",
    "resize_with_crop_or_pad", "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv", "rot90",
    "sample_distorted_bounding_box", "sobel_edges", "ssim", "ssim_multiscale", "total_variation", "transpose",
    "transpose_image", "yiq_to_rgb", "yuv_to_rgb"]
