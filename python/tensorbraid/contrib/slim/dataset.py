"""tf.contrib.slim.dataset: what a data set is made of."""

__all__ = ["Dataset"]


class Dataset:
    """The files of a data set, the class that reads them, what decodes a record, and how many examples there are.

    Further arguments become attributes, such as num_classes.
    """

    def __init__(self, data_sources, reader, decoder, num_samples, items_to_descriptions, **kwargs):
        self.__dict__.update(kwargs, data_sources=data_sources, reader=reader, decoder=decoder,
                             num_samples=num_samples, items_to_descriptions=items_to_descriptions)
