"""tf.contrib.slim.data_decoder: the base class of what decodes the records of a data set."""

import abc

__all__ = ["DataDecoder"]


class DataDecoder(abc.ABC):
    """Decodes a record, a tensor of text, to items."""

    @abc.abstractmethod
    def decode(self, data, items):
        """The tensors of these items of a record."""

    @abc.abstractmethod
    def list_items(self):
        """The names of the items."""
