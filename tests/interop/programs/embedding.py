"""Embeddings: lookups in tables of one or several parts, by ids and by sparse ids, trained by every optimizer, and saved."""
import os
import tempfile

import numpy as np
import tensorflow as tf

from programs.optimizers import OPTIMIZERS

tf1 = tf.compat.v1


def _table(s, parts, use_resource=True, rows=13, columns=3, name="table"):
    """A variable [rows, columns] in `parts` parts on the parameter server."""
    initial = np.linspace(-1, 1, rows * columns, dtype=np.float32).reshape(rows, columns)

    def part(shape, dtype, partition_info=None):
        first = partition_info.var_offset[0] if partition_info is not None else 0
        return tf.constant(initial[first:first + shape[0]], dtype)
    with tf.device(s.ps):
        return tf1.get_variable(name, [rows, columns], initializer=part, use_resource=use_resource,
                                partitioner=tf1.fixed_size_partitioner(parts))


def _bits(s, fetches):
    """Records values that must agree in every bit."""
    s.record([np.ascontiguousarray(x).view(np.uint32) if x.dtype == np.float32 else x for x in s.session.run(fetches)])


def lookups(s):
    ids = tf1.placeholder(tf.int64, [None, 2])
    fetches = []
    for use_resource in (False, True):
        for parts in (1, 2, 5):
            table = _table(s, parts, use_resource, name=f"table_{use_resource}_{parts}")
            with tf.device(s.worker(0)):
                for strategy in ("mod", "div"):
                    for max_norm in (None, 0.8):
                        rows = tf1.nn.embedding_lookup(table, ids, partition_strategy=strategy, max_norm=max_norm)
                        fetches.append(rows)
                        fetches += tf.gradients(rows * tf.cast(ids, tf.float32)[:, :, None], list(table))
    s.init()
    for values in ([[0, 12], [5, 6], [5, 0]], [[3, 3]], np.zeros([0, 2])):
        s.run(fetches, {ids: values})
    for bad in ([[0, 13]], [[-1, 0]], [[2**40, 1]]):
        s.run(fetches[0], {ids: bad})


def sparse_lookups(s):
    indices = tf1.placeholder(tf.int64, [None, 2])
    values = tf1.placeholder(tf.int64, [None])
    weights = tf1.placeholder(tf.float32, [None])
    ids, ws = (tf.SparseTensor(indices, v, tf.constant([4, 5], tf.int64)) for v in (values, weights))
    fetches = []
    for parts in (1, 3):
        table = _table(s, parts, name=f"table_{parts}")
        with tf.device(s.worker(0)):
            for combiner in ("sum", "mean", "sqrtn"):
                for w in (None, ws):
                    rows = tf1.nn.embedding_lookup_sparse(table, ids, w, partition_strategy="div", combiner=combiner)
                    fetches.append(rows)
                    fetches += tf.gradients(tf.square(rows), list(table))
                    fetches.append(tf1.nn.safe_embedding_lookup_sparse(list(table), ids, w, combiner=combiner,
                                                                       partition_strategy="div"))
    s.init()
    at = [[0, 0], [0, 1], [0, 4], [2, 0], [3, 3]]
    s.run(fetches, {indices: at, values: [1, 1, 12, 7, 0], weights: [0.5, 2, 1, 3, 0]})
    s.run(fetches, {indices: at[:1], values: [5], weights: [1]})


# Optimizers whose results differ from TensorFlow's in the last bits. We do not know in which order TensorFlow's centred
# RMSProp rounds for rows. After 20 steps, the results differ by 2 units in the last place.
INEXACT = ("centered_rms_prop",)


def _trained(name, make, use_resource):
    def run(s):
        with tf.device(s.ps):
            step = tf1.train.get_or_create_global_step()
        table = _table(s, 2, use_resource, rows=7, columns=5)
        ids = tf1.placeholder(tf.int64, [2, 3])
        with tf.device(s.worker(0)):
            rows = tf1.nn.embedding_lookup(table, ids, partition_strategy="div")
            loss = tf.reduce_sum(tf.square(rows - 0.25))
        optimizer = make(step)
        train = optimizer.minimize(loss, global_step=step)
        s.init()
        slots = [optimizer.get_slot(v, name) for v in table for name in optimizer.get_slot_names()]
        for i in range(20):
            s.session.run(train, {ids: [[i % 7, (2 * i + 1) % 7, 3], [i * i % 7, i % 7, 6]]})
            if i in (0, 19):
                fetches = list(table) + slots + [step]
                if name in INEXACT:
                    s.run(fetches, tolerance=1e-6)
                else:
                    _bits(s, fetches)
    return run


for _name, _make in OPTIMIZERS.items():
    for _resource in (False, True):
        globals()[f"{_name}_{'resource' if _resource else 'reference'}"] = _trained(_name, _make, _resource)


def parts_are_saved_as_one_tensor(s):
    with tempfile.TemporaryDirectory(prefix="interop_embedding_") as folder:
        table = _table(s, 3)
        saver = tf1.train.Saver([table] if not isinstance(table, list) else table)
        changed = [part.assign_add(tf.ones_like(part)) for part in table]
        s.init()
        s.run(changed)
        path = saver.save(s.session, os.path.join(folder, "model"), write_meta_graph=False)
        reader = tf1.train.load_checkpoint(path)
        s.record(reader.get_tensor("table"))
        whole = _table(s, 1, name="whole")
        other = _table(s, 5, name="other")
        s.init()
        for target in (whole, other):
            restorer = tf1.train.Saver({"table": target})
            restorer.restore(s.session, path)
            s.run(list(target))
