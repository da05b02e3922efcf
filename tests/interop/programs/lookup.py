"""Programs of lookup tables."""
import os
import tempfile

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def _exported(s, keys, values):
    """Records the exported rows in the order of their keys, because the rows of a table have no order."""
    s.run([tf.sort(keys), tf.gather(values, tf.argsort(keys))])


def static_table(s):
    raw = tf.raw_ops
    table = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    find = raw.LookupTableFindV2(table_handle=table, keys=[["a", "b"], ["zz", "a"]], default_value=np.int64(-1))

    def initialize(keys, values):
        s.run(raw.InitializeTableV2(table_handle=table, keys=tf1.placeholder_with_default(keys, None),
                                    values=tf1.placeholder_with_default(np.array(values, np.int64), None)))
    s.run(find)
    s.run(raw.LookupTableSizeV2(table_handle=table))
    initialize(["a", "b"], [1])
    initialize(["a", "a"], [1, 2])
    initialize(["a", "b"], [1, 2])
    initialize(["a", "b"], [1, 2])
    initialize(["a"], [1])
    s.run(find)
    s.run(raw.LookupTableSizeV2(table_handle=table))
    s.run(raw.LookupTableInsertV2(table_handle=table, keys=["q"], values=np.array([1], np.int64)))
    s.run(raw.LookupTableRemoveV2(table_handle=table, keys=["q"]))
    s.run(raw.LookupTableFindV2(table_handle=table, keys=["a"], default_value=1.0))
    by_reference = raw.HashTable(key_dtype=tf.int64, value_dtype=tf.string)
    keys = np.array([3, 1, 2], np.int64)
    s.run(raw.InitializeTable(table_handle=by_reference, keys=keys, values=["x", "y", "z"]))
    s.run(raw.LookupTableFind(table_handle=by_reference, keys=keys[::-1], default_value="none"))
    s.run(raw.LookupTableSize(table_handle=by_reference))
    layer = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["u", "v"], [10.5, 20.5]), -1.0)
    s.run(tf1.tables_initializer())
    s.run(layer.lookup(tf.constant(["v", "w"])))


def mutable_table(s):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    s.run(table.insert(["a", "b", "c"], np.array([1, 2, 3], np.int64)))
    s.run(table.insert(["a"], np.array([5], np.int64)))
    s.run(table.lookup(tf.constant(["a", "x", "c"])))
    s.run(table.lookup(tf.constant(["a", "x"]), dynamic_default_values=np.array([10, 20], np.int64)))
    s.run(table.remove(tf.constant(["b", "none"])))
    s.run(table.size())
    numbered = tf.lookup.experimental.MutableHashTable(tf.int64, tf.string, "none")
    s.run(numbered.insert(np.array([5, 3, 4], np.int64), ["five", "three", "four"]))
    _exported(s, *numbered.export())
    vectors = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [-1.0, -2.0])
    keys = np.array([4, 9], np.int64)
    s.run(vectors.insert(keys, [[1.0, 2.0], [3.0, 4.0]]))
    s.run(vectors.lookup(np.array([[9, 1]], np.int64)))
    short = tf1.placeholder_with_default([1.0, 2.0], None)
    s.run(tf.raw_ops.LookupTableInsertV2(table_handle=vectors.resource_handle, keys=keys, values=short))
    s.run(vectors.size())


def dense_table(s):
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, empty_key=0, deleted_key=-1,
                                                  initial_num_buckets=4)
    s.run(table.insert(np.array([1, 2, 3, 4, 5], np.int64), [1.0, 2.0, 3.0, 4.0, 5.0]))
    s.run(table.lookup(np.array([5, 7], np.int64)))
    s.run(table.remove(np.array([2, 7], np.int64)))
    s.run(table.size())
    bad = np.array([0], np.int64)
    s.run(table.insert(bad, [1.0]))
    s.run(table.lookup(bad - 1))
    pairs = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, np.array([-1, -1], np.int64),
                                                  empty_key=np.array([0, 0], np.int64),
                                                  deleted_key=np.array([-1, -1], np.int64))
    s.run(pairs.insert(np.array([[1, 2], [3, 4]], np.int64), np.array([[5, 6], [7, 8]], np.int64)))
    s.run(pairs.lookup(np.array([[3, 4], [4, 3]], np.int64)))


def tables_from_files(s):
    lookup = tf.lookup
    whole, number = lookup.TextFileIndex.WHOLE_LINE, lookup.TextFileIndex.LINE_NUMBER
    with tempfile.TemporaryDirectory(prefix="interop_lookup_") as folder:
        def table(lines, key_dtype, key_index, value_dtype, value_index, default, **kwargs):
            path = os.path.join(folder, f"f{len(os.listdir(folder))}")
            with open(path, "w") as f:
                f.write(lines)
            with tf.device(s.ps):
                return lookup.StaticHashTable(
                    lookup.TextFileInitializer(path, key_dtype, key_index, value_dtype, value_index, **kwargs), default)

        numbers = table("42\n1\n-1000\n", tf.int64, whole, tf.int64, number, -1)
        words = table("a\nb\n", tf.string, whole, tf.int64, number, -1)
        names = table("a\nb\n", tf.int64, number, tf.string, whole, "?")
        columns = table("a 1\nb 2\n", tf.string, 0, tf.int64, 1, -1, delimiter=" ")
        s.run(tf1.tables_initializer())
        s.run([numbers.lookup(tf.constant([1, -1000, 7], tf.int64)), words.lookup(tf.constant(["b", "c"])),
               names.lookup(tf.constant([0, 1, 2], tf.int64)), columns.lookup(tf.constant(["b", "c"]))])
        for bad in [("x\n", tf.int64, whole, tf.int64, number, -1), ("a\n", tf.string, 0, tf.int64, 1, -1)]:
            with tf1.variable_scope(None, "bad"):
                s.run(table(*bad)._init_op)
        s.run(table("a\n", tf.string, whole, tf.int64, number, -1, vocab_size=3)._init_op)


def dense_buckets(s):
    """An export shows all buckets. The bucket of a removed entry has the deleted key and the old value."""
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=100, deleted_key=200,
                                                  initial_num_buckets=8)
    s.run(table.insert(np.array([11, 12, 13, 14], np.int64), np.array([1, 2, 3, 4], np.int64)))
    s.run(table.remove(np.array([12, 15], np.int64)))
    keys, values = table.export()
    used = tf.where(tf.not_equal(keys, 100))[:, 0]  # the values of unused buckets are arbitrary
    s.run(tf.shape(keys))
    _exported(s, tf.gather(keys[:, 0], used), tf.gather(values[:, 0], used))
    again = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=100, deleted_key=200)
    rows = s.session.run([keys, values])
    s.run(tf.raw_ops.LookupTableImportV2(table_handle=again.resource_handle,
                                         keys=tf1.placeholder_with_default(rows[0], None),
                                         values=tf1.placeholder_with_default(rows[1], None)))
    s.run([again.size(), again.lookup(np.array([11, 12, 14], np.int64))])
    s.run(table.insert(np.arange(8), np.arange(8)))
    keys, values = table.export()
    used = tf.where(tf.not_equal(keys, 100))[:, 0]
    s.run(tf.shape(keys))
    _exported(s, tf.gather(keys[:, 0], used), tf.gather(values[:, 0], used))


def refusals_of_tables(s):
    raw = tf.raw_ops

    def any_shape(value, dtype=np.int64):
        return tf1.placeholder_with_default(np.array(value, dtype), None)

    def dense(**kwargs):
        kwargs = {"empty_key": np.int64(0), "deleted_key": np.int64(-1), "initial_num_buckets": 8, **kwargs}
        return raw.MutableDenseHashTableV2(value_dtype=tf.int64, **kwargs)

    for bad, text in [({"initial_num_buckets": 12}, "Number of buckets must be"),
                      ({"deleted_key": np.array([1, 2])}, "Empty and deleted keys must have same shape"),
                      ({"deleted_key": np.int64(0)}, "Empty and deleted keys cannot be equal")]:
        s.run(raw.LookupTableSizeV2(table_handle=dense(**bad)), text=text)
    for keys in ([[1, 2], [3, 4]], [[1], [2]], 5, [1, 2]):
        table = dense()
        if np.ndim(keys) < 2 or np.shape(keys)[1] == 1:
            s.run(raw.LookupTableInsertV2(table_handle=table, keys=any_shape(keys), values=any_shape(keys)))
            s.run(raw.LookupTableFindV2(table_handle=table, keys=any_shape(keys), default_value=np.int64(7)))
            continue
        s.run(raw.LookupTableInsertV2(table_handle=table, keys=any_shape(keys), values=any_shape(keys)),
                   text="Expected key shape")
        s.run(raw.LookupTableFindV2(table_handle=table, keys=any_shape(keys), default_value=np.int64(7)),
                   text="Expected key shape")
    rows = raw.MutableHashTableOfTensorsV2(key_dtype=tf.int64, value_dtype=tf.int64, value_shape=[2])
    for values in ([0, 1, 2, 3], [[0], [1]], [[0, 1, 2], [3, 4, 5]]):
        s.run(raw.LookupTableInsertV2(table_handle=rows, keys=any_shape([1, 2]), values=any_shape(values)),
                   text="Expected shape")
    deep = raw.MutableHashTableOfTensorsV2(key_dtype=tf.string, value_dtype=tf.int64, value_shape=[1, 2])
    s.run(raw.LookupTableSizeV2(table_handle=deep), text="Default value must be a vector")
    for key_dtype, value_dtype in [(tf.int32, tf.int32), (tf.string, tf.bool), (tf.int32, tf.string), (tf.int64, tf.float64)]:
        s.run(raw.LookupTableSizeV2(table_handle=raw.HashTableV2(key_dtype=key_dtype, value_dtype=value_dtype)))
    table = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    s.run(raw.InitializeTableV2(table_handle=table, keys=tf.constant([], tf.string), values=tf.constant([], tf.int64)),
               text="keys and values cannot be empty")
    with tempfile.NamedTemporaryFile(prefix="interop_lookup_") as empty:
        s.run(raw.InitializeTableFromTextFileV2(table_handle=table, filename=empty.name, key_index=-2, value_index=-1))
    # This step is the last one, because TensorFlow runs no step of a graph with such a node.
    s.run(raw.LookupTableSizeV2(table_handle=raw.HashTableV2(key_dtype=tf.int32, value_dtype=tf.int64)))
