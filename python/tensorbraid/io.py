"""The namespace tf.io."""

from tensorbraid import gfile  # noqa: F401
from tensorbraid.image.files import (  # noqa: F401
    decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png, encode_jpeg, encode_png,
    extract_jpeg_shape, is_jpeg)
from tensorbraid.internal.graph_defs import write_graph  # noqa: F401
from tensorbraid.ops.parsing_ops import (  # noqa: F401
    FixedLenFeature, FixedLenSequenceFeature, SparseFeature, VarLenFeature, decode_compressed, decode_csv,
    decode_json_example, decode_raw, match_filenames_once, matching_files, parse_example, parse_sequence_example,
    parse_single_example, parse_single_sequence_example, parse_tensor, read_file, serialize_tensor, write_file)
from tensorbraid.ops.queues import (  # noqa: F401
    FIFOQueue, PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue)
from tensorbraid.ops.sparse_ops import deserialize_many_sparse, serialize_many_sparse, serialize_sparse  # noqa: F401
from tensorbraid.ops.string_ops import decode_base64, encode_base64  # noqa: F401
from tensorbraid.python_io import (  # noqa: F401
    TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator)

__all__ = [
    "FIFOQueue", "FixedLenFeature", "FixedLenSequenceFeature", "PaddingFIFOQueue", "PriorityQueue", "QueueBase",
    "RandomShuffleQueue", "SparseFeature", "TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter",
    "VarLenFeature", "decode_and_crop_jpeg", "decode_base64", "decode_bmp", "decode_compressed", "decode_csv",
    "decode_gif", "decode_image", "decode_jpeg", "decode_json_example", "decode_png", "decode_raw",
    "deserialize_many_sparse", "encode_base64", "encode_jpeg", "encode_png", "extract_jpeg_shape", "gfile", "is_jpeg",
    "match_filenames_once", "matching_files", "parse_example", "parse_sequence_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_many_sparse", "serialize_sparse",
    "serialize_tensor", "tf_record_iterator", "write_file", "write_graph"]
