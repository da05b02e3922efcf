"""The namespace tf.lookup: tables from keys to values."""

from tensorbraid import dtypes, graphs
from tensorbraid.graph_keys import GraphKeys
from tensorbraid.graphs import convert_to_tensor, make_op, name_scope

_INITIALIZERS = "table_initializer"


class TextFileIndex:
    """What TextFileInitializer takes as the key or value of a line: all of it, or its number."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """Fills a table from a tensor of keys and one of values."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        self._name = name or "key_value_init"
        self._keys = convert_to_tensor(keys, key_dtype, name="keys")
        self._values = convert_to_tensor(values, value_dtype, name="values")
        self.key_dtype, self.value_dtype = self._keys.dtype, self._values.dtype

    def initialize(self, table):
        """The operation that fills the table."""
        with name_scope(self._name):
            made = make_op("LookupTableImportV2", [table.resource_handle, self._keys, self._values])
        made.graph.add_to_collection(_INITIALIZERS, made)
        return made


class TextFileInitializer:
    """Fills a table from the lines of a file."""

    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t", name=None,
                 value_index_offset=0):
        if value_index_offset:
            raise NotImplementedError("value_index_offset of TextFileInitializer")
        for which, index in (("key_index", key_index), ("value_index", value_index)):
            if not isinstance(index, int) or index < -2:
                raise ValueError(f"Invalid {which} {index}.")
        self._filename, self._key_index, self._value_index = filename, key_index, value_index
        self._vocab_size, self._delimiter, self._name = vocab_size, delimiter, name or "text_file_init"
        self.key_dtype, self.value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    def initialize(self, table):
        """The operation that fills the table."""
        with name_scope(self._name):
            filename = convert_to_tensor(self._filename, dtypes.string, name="asset_filepath")
            made = make_op("InitializeTableFromTextFileV2", [table.resource_handle, filename], None,
                           key_index=self._key_index, value_index=self._value_index, vocab_size=self._vocab_size or -1,
                           delimiter=self._delimiter)
            made.graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        made.graph.add_to_collection(_INITIALIZERS, made)
        made.graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return made


class StaticHashTable:
    """A table that its initializer fills once. tf.tables_initializer runs the initializers of all tables."""

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        if experimental_is_anonymous:
            raise NotImplementedError("experimental_is_anonymous of StaticHashTable")
        self.key_dtype, self.value_dtype = initializer.key_dtype, initializer.value_dtype
        self._default = convert_to_tensor(default_value, self.value_dtype)
        self._name = name or "hash_table"
        self.resource_handle = make_op("HashTableV2", [], self._name, key_dtype=self.key_dtype,
                                       value_dtype=self.value_dtype).outputs[0]
        self.initializer = initializer.initialize(self)

    @property
    def default_value(self):
        """The value of keys that are not in the table."""
        return self._default

    @property
    def name(self):
        """The name of the table."""
        return self._name

    def size(self, name=None):
        """The number of keys."""
        with name_scope(name, f"{self._name}_Size"):
            return make_op("LookupTableSizeV2", [self.resource_handle]).outputs[0]

    def lookup(self, keys, name=None):
        """The values of the keys, which may be a SparseTensor; the default value for a missing key."""
        from tensorbraid.sparse_tensor import SparseTensor

        sparse = keys if isinstance(keys, SparseTensor) else None
        with name_scope(name, f"{self._name}_Lookup"):
            found = convert_to_tensor(keys if sparse is None else sparse.values, None if isinstance(
                keys, graphs.Tensor) or sparse is not None else self.key_dtype)
            if found.dtype != self.key_dtype:
                raise TypeError(f"Dtype of argument `keys` must be {self.key_dtype}, received: {found.dtype}")
            values = make_op("LookupTableFindV2", [self.resource_handle, found, self._default]).outputs[0]
        return values if sparse is None else sparse.with_values(values)

    def __getitem__(self, keys):
        return self.lookup(keys)

    def export(self, name=None):
        """All keys and their values."""
        with name_scope(name, f"{self._name}_Export"):
            return tuple(make_op("LookupTableExportV2", [self.resource_handle], Tkeys=self.key_dtype,
                                 Tvalues=self.value_dtype).outputs)


def tables_initializer(name="init_all_tables"):
    """An operation that fills all tables of the default graph."""
    from tensorbraid import control

    initializers = graphs.get_collection(_INITIALIZERS)
    return control.group(*initializers, name=name) if initializers else control.no_op(name=name)


initialize_all_tables = tables_initializer

__all__ = ["initialize_all_tables", "tables_initializer"]
