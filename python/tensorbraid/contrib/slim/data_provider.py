"""tf.contrib.slim.data_provider: tensors of named items."""

__all__ = ["DataProvider"]


class DataProvider:
    """Tensors by the names of the items, and how many examples there are."""

    def __init__(self, items_to_tensors, num_samples):
        self._tensors, self._count = items_to_tensors, num_samples

    def get(self, items):
        """The tensors of the items."""
        self._check(items)
        return [self._tensors[item] for item in items]

    def list_items(self):
        """The names of the items."""
        return list(self._tensors)

    def num_samples(self):
        """How many examples there are."""
        return self._count

    def _check(self, items):
        for item in items:
            if item not in self._tensors:
                raise ValueError("Item [%s] is invalid; valid entries are: %s" % (item, self.list_items()))
