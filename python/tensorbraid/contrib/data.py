"""tf.contrib.data: names of tf.data."""

from tensorbraid.data import (  # noqa: F401
    AUTOTUNE, Dataset, FixedLengthRecordDataset, Iterator, TextLineDataset, TFRecordDataset)
from tensorbraid.data.experimental import (  # noqa: F401
    enumerate_dataset, map_and_batch, parallel_interleave, shuffle_and_repeat, unbatch)

__all__ = []


def batch_and_drop_remainder(batch_size):
    """A transformation that batches elements and leaves out a last batch that is too small."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)
