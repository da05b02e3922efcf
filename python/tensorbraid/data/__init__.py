"""tf.data: input pipelines."""

from tensorbraid.data import experimental  # noqa: F401
from tensorbraid.data.datasets import AUTOTUNE, Dataset  # noqa: F401
from tensorbraid.data.iterators import Iterator, make_initializable_iterator, make_one_shot_iterator  # noqa: F401
from tensorbraid.data.options import Options, ThreadingOptions  # noqa: F401
from tensorbraid.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset  # noqa: F401
from tensorbraid.data.structure import get_output_classes, get_output_shapes, get_output_types  # noqa: F401

__all__ = [
    "AUTOTUNE", "Dataset", "FixedLengthRecordDataset", "Iterator", "Options", "TFRecordDataset", "TextLineDataset",
    "ThreadingOptions", "experimental", "get_output_classes", "get_output_shapes", "get_output_types",
    "make_initializable_iterator", "make_one_shot_iterator"]
