"""The namespace tf.lookup: tables from keys to values."""

from tensorbraid import dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope


class TextFileIndex:
    """Which part of a line TextFileInitializer uses as the key or the value: the whole line, or its number."""

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
        made.graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, made)
        return made


class TextFileInitializer:
    """Fills a table from the lines of a file."""

    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t",
                 name=None, value_index_offset=0):
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
        made.graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, made)
        made.graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return made


class StaticHashTable:
    """A table that its initializer fills once. tf.tables_initializer runs the initializers of all tables."""

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        if experimental_is_anonymous:
            raise NotImplementedError("experimental_is_anonymous of StaticHashTable")
        arguments.check(hasattr(initializer, "key_dtype"), "initializer", "the initializer of a table", initializer)
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
        from tensorbraid.ops.sparse_tensor import SparseTensor

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


class StaticVocabularyTable:
    """A table of ids, with numbers from further buckets for the keys that it lacks."""

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None, experimental_is_anonymous=False):
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        if initializer is not None and initializer.value_dtype != dtypes.int64:
            raise TypeError(f"Invalid `value_dtype`, expected {dtypes.int64!r} but got {initializer.value_dtype!r}.")
        self._table = None
        if initializer is not None:
            self._table = StaticHashTable(initializer, -1, name, experimental_is_anonymous)
        if lookup_key_dtype is None and initializer is None:
            raise ValueError("lookup_key_dtype must be specified if there is no initializer")
        self.key_dtype = dtypes.as_dtype(lookup_key_dtype or initializer.key_dtype)
        self.value_dtype = dtypes.int64
        if not (self.key_dtype.is_integer or self.key_dtype == dtypes.string):
            raise TypeError(f"Invalid `key_dtype`, expected one of integers or strings, but got {self.key_dtype!r}.")
        self._buckets = num_oov_buckets
        self._name = "StaticVocabularyTable" if self._table is None else self._table.name

    name = property(lambda self: self._name)

    @property
    def initializer(self):
        """The operation that fills the table."""
        from tensorbraid.ops import control

        return control.no_op() if self._table is None else self._table.initializer

    @property
    def resource_handle(self):
        return None if self._table is None else self._table.resource_handle

    def size(self, name=None):
        """The number of keys and buckets."""
        with name_scope(name, f"{self._name}_Size"):
            known = 0 if self._table is None else self._table.size()
            return known + graphs.constant(self._buckets, dtypes.int64)

    def lookup(self, keys, name=None):
        """The ids of the keys, which may be a SparseTensor."""
        from tensorbraid.ops import elementwise, indexing, string_ops
        from tensorbraid.ops.sparse_tensor import SparseTensor

        sparse = keys if isinstance(keys, SparseTensor) else None
        with name_scope(name, f"{self._name}_Lookup"):
            values = convert_to_tensor(keys, self.key_dtype) if sparse is None and not isinstance(
                keys, graphs.Tensor) else keys if sparse is None else sparse.values
            if values.dtype != self.key_dtype:
                raise TypeError(f"Dtype of argument `keys` must be {self.key_dtype}, received: {values.dtype}")
            text = values if self.key_dtype == dtypes.string else string_ops.as_string(values)
            ids = string_ops.string_to_hash_bucket_fast(text, self._buckets, name="hash_bucket")
            if self._table is not None:
                inner = convert_to_tensor(values)
                if inner.dtype != self._table.key_dtype:
                    inner = elementwise.cast(inner, self._table.key_dtype)
                found = self._table.lookup(inner)
                missing = elementwise.equal(found, self._table.default_value)
                ids = indexing.where_v2(missing, ids + self._table.size(), found)
        return ids if sparse is None else sparse.with_values(ids)

    def __getitem__(self, keys):
        return self.lookup(keys)


def tables_initializer(name="init_all_tables"):
    """An operation that fills all tables of the default graph."""
    from tensorbraid.ops import control

    initializers = graphs.get_collection(GraphKeys.TABLE_INITIALIZERS)
    return control.group(*initializers, name=name) if initializers else control.no_op(name=name)


initialize_all_tables = tables_initializer

__all__ = ["initialize_all_tables", "tables_initializer"]
