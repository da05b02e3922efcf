"""tf.contrib.slim.dataset_data_provider: the items of a data set, which several readers read."""

from tensorbraid.contrib.slim.data_provider import DataProvider
from tensorbraid.contrib.slim.parallel_reader import parallel_read

__all__ = ["DatasetDataProvider"]


class DatasetDataProvider(DataProvider):
    """Reads the files of a slim Dataset with its reader and decodes the records."""

    def __init__(self, dataset, num_readers=1, reader_kwargs=None, shuffle=True, num_epochs=None,
                 common_queue_capacity=256, common_queue_min=128, record_key="record_key", seed=None, scope=None):
        key, record = parallel_read(
            dataset.data_sources, reader_class=dataset.reader, num_epochs=num_epochs, num_readers=num_readers,
            reader_kwargs=reader_kwargs, shuffle=shuffle, capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min, seed=seed, scope=scope)
        items = dataset.decoder.list_items()
        if record_key in items:
            raise ValueError("The item name used for `record_key` cannot also be used for a dataset item: %s" % items)
        tensors = dataset.decoder.decode(record, items)
        super().__init__(dict(zip([*items, record_key], [*tensors, key])), dataset.num_samples)
