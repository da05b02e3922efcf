"""Ops that read and write the files of images."""

from tensorbraid import dtypes
from tensorbraid.image.colors import convert_image_dtype
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import elementwise, random_ops
from tensorbraid.ops.op_functions import op_function

_JPEG = ("channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1, dct_method=''")
decode_and_crop_jpeg = op_function("DecodeAndCropJpeg", "contents, crop_window", _JPEG)
decode_bmp = op_function("DecodeBmp", "contents", "channels=0")
decode_gif = op_function("DecodeGif", "contents")
decode_jpeg = op_function("DecodeJpeg", "contents", _JPEG)
decode_png = op_function("DecodePng", "contents", "channels=0, dtype=tf.uint8")
extract_jpeg_shape = op_function("ExtractJpegShape", "contents", "output_type=tf.int32")
encode_jpeg = op_function(
    "EncodeJpeg", "image", "format='', quality=95, progressive=False, optimize_size=False, chroma_downsampling=True, "
    "density_unit='in', x_density=300, y_density=300, xmp_metadata=''")


def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """The image of a BMP, GIF, JPEG or PNG file."""
    with name_scope(name, "decode_image"):
        return make_op("DecodeImage", [contents], None, channels=channels or 0, dtype=dtypes.as_dtype(dtype),
                       expand_animations=expand_animations).outputs[0]


def encode_png(image, compression=-1, name=None):
    """The PNG file of an image."""
    return make_op("EncodePng", [image], name or "EncodePng", compression=compression).outputs[0]


def is_jpeg(contents, name=None):
    """Whether the contents of a file begin as those of a JPEG file."""
    from tensorbraid.ops import string_ops

    with name_scope(name, "is_jpeg"):
        return elementwise.equal(string_ops.substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """The image after it was written as a JPEG file of this quality, and read again."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        original, channels = image.dtype, image.shape.as_list()[-1]
        if not isinstance(jpeg_quality, graphs.Tensor):
            jpeg_quality = convert_to_tensor(jpeg_quality, dtypes.int32)
        pixels = convert_image_dtype(image, dtypes.uint8, saturate=True)
        contents = make_op("EncodeJpegVariableQuality", [pixels, jpeg_quality]).outputs[0]
        return convert_image_dtype(decode_jpeg(contents, channels=channels, dct_method=dct_method), original,
                                   saturate=True)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """adjust_jpeg_quality with a random quality from [min_jpeg_quality, max_jpeg_quality)."""
    if not (0 <= min_jpeg_quality <= 100 and 0 <= max_jpeg_quality <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_ops.random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32)
    return adjust_jpeg_quality(image, quality)
