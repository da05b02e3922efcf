"""tensorflow.contrib.slim.python.slim.data: the modules of slim that read data sets."""

from tensorbraid.contrib.slim import (  # noqa: F401
    data_decoder, data_provider, dataset, dataset_data_provider, parallel_reader, prefetch_queue, tfexample_decoder)

__all__ = []
