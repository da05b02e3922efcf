"""tf.contrib.slim.data_decoder: the base class of decoders of a data set's records."""

import abc

__all__ = ["DataDecoder"]


class DataDecoder(abc.ABC):
    """Decodes a record, a string tensor, to tensors by name, its items."""

    @abc.abstractmethod
    def decode(self, data, items):
        """The tensors of these items of a record."""

    @abc.abstractmethod
    def list_items(self):
        """The names of the items."""
