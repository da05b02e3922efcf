"""SparseTensors, their feeds and fetches, IndexedSlices."""

import numpy as np
from registry import Result, case, each, floats

DENSE = floats(3, 4, seed=2)


def a(tf, values=(1.0, 2.0, 3.0)):
    return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], list(values), [3, 4])


def b(tf):
    return tf.SparseTensor(indices=[[0, 1], [2, 3]], values=[10.0, 20.0], dense_shape=[3, 4])


FOLDED = "the shape rules of C++ do not compute with values that ops make of constants"

for names, function in (
    ("sparse_tensor_to_dense sparse.to_dense", lambda tf, f: f(a(tf), default_value=-1.0, name="given")),
    ("sparse_tensor_to_dense sparse.to_dense", lambda tf, f: f(a(tf))),
    ("sparse_tensor_to_dense sparse.to_dense", lambda tf, f: f(tf.SparseTensor([[1]], ["x"], [3]))),
    ("sparse_to_dense", lambda tf, f: f([[0, 1], [1, 0]], [2, 2], [5.0, 6.0])),
    ("sparse_to_dense", lambda tf, f: f([1, 3], [5], 7, default_value=-1, validate_indices=False, name="given")),
    ("sparse_to_dense", lambda tf, f: f([[1, 0], [0, 1]], [2, 2], [5.0, 6.0])),
    ("sparse_tensor_dense_matmul sparse.matmul sparse.sparse_dense_matmul", lambda tf, f: f(a(tf), DENSE.T)),
    ("sparse_tensor_dense_matmul sparse.matmul", lambda tf, f: f(a(tf), DENSE, adjoint_a=True, name="given")),
    ("sparse_tensor_dense_matmul", lambda tf, f: f(a(tf), DENSE, adjoint_b=True)),
    ("sparse_tensor_dense_matmul", lambda tf, f: f(a(tf), np.ones([3, 3], np.float32))),
    ("sparse_add sparse.add", lambda tf, f: f(a(tf), b(tf))),
    ("sparse_add sparse.add", lambda tf, f: f(a(tf), b(tf), threshold=5.0)),
    ("sparse_add", lambda tf, f: f(a(tf), b(tf), thresh=2.5)),
    ("sparse_add sparse.add", lambda tf, f: f(a(tf), DENSE)), ("sparse_add", lambda tf, f: f(DENSE, a(tf))),
    ("sparse_add", lambda tf, f: f(DENSE, DENSE)),
    ("sparse_concat sparse.concat", lambda tf, f: f(0, [a(tf), b(tf)])),
    ("sparse_concat sparse.concat", lambda tf, f: f(1, [a(tf), b(tf)], name="given")),
    ("sparse_concat", lambda tf, f: f(1, [a(tf), tf.SparseTensor([[0, 0]], [1.0], [5, 1])], expand_nonconcat_dim=True)),
    ("sparse_reorder sparse.reorder", lambda tf, f: f(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2]), name="given")),
    ("sparse_reshape sparse.reshape", lambda tf, f: f(a(tf), [2, 6])),
    ("sparse_reshape sparse.reshape", lambda tf, f: f(a(tf), [-1, 2], name="given")),
    ("sparse_split sparse.split", lambda tf, f: f(sp_input=a(tf), num_split=2, axis=1, name="given")),
    ("sparse_split", lambda tf, f: f(a(tf), 2, 1)),
    ("sparse_slice sparse.slice", lambda tf, f: f(a(tf), [1, 0], [2, 2], name="given")),
    ("sparse_transpose sparse.transpose", lambda tf, f: f(a(tf))),
    ("sparse_transpose sparse.transpose", lambda tf, f: f(a(tf), [1, 0], name="given")),
    ("sparse_retain sparse.retain", lambda tf, f: f(a(tf), [True, False, True])),
    ("sparse_reset_shape sparse.reset_shape", lambda tf, f: f(a(tf))),
    ("sparse_reset_shape sparse.reset_shape", lambda tf, f: f(a(tf), new_shape=[4, 5])),
    ("sparse_reset_shape", lambda tf, f: f(a(tf), new_shape=[2, 2])),
    ("sparse_fill_empty_rows sparse.fill_empty_rows", lambda tf, f: f(a(tf), -1.0, name="given")),
    ("sparse_softmax sparse.softmax", lambda tf, f: f(a(tf), name="given")),
    ("sparse_maximum sparse.maximum sparse_minimum sparse.minimum", lambda tf, f: f(a(tf), b(tf), name="given")),
    ("sparse_reduce_sum sparse.reduce_sum sparse_reduce_max sparse.reduce_max", lambda tf, f: f(a(tf), 1)),
    ("sparse_reduce_sum sparse.reduce_sum sparse_reduce_max sparse.reduce_max",
     lambda tf, f: f(a(tf), axis=0, keepdims=True)),
    ("sparse_reduce_sum sparse_reduce_max", lambda tf, f: f(a(tf), reduction_axes=[0, 1])),
    ("sparse_reduce_sum_sparse sparse.reduce_sum_sparse sparse_reduce_max_sparse sparse.reduce_max_sparse",
     lambda tf, f: f(a(tf), axis=1, keepdims=True)),
    ("sparse_to_indicator sparse.to_indicator", lambda tf, f: f(a(tf, (1, 3, 0)), 5, name="given")),
    ("sparse_merge sparse.merge", lambda tf, f: f(a(tf, (1, 3, 0)), a(tf), 5, name="given")),
    ("sparse_merge sparse.merge", lambda tf, f: f(a(tf, (1, 3, 0)), a(tf), 5, already_sorted=True)),
    ("sparse_mask sparse.mask", lambda tf, f: f(tf.IndexedSlices(tf.constant(DENSE), tf.constant([0, 3, 5])), [3],
                                                name="given")),
    ("sparse.from_dense", lambda tf, f: f([[0, 1, 0], [2, 0, 3]], name="given")),
    ("sparse.expand_dims", lambda tf, f: f(a(tf), 1, name="given")), ("sparse.expand_dims", lambda tf, f: f(a(tf))),
    ("sparse.eye", lambda tf, f: f(3, 4, dtype=tf.float64, name="given")), ("sparse.eye", lambda tf, f: f(2)),
    ("sparse.cross", lambda tf, f: f([tf.constant([["a"], ["b"]]), tf.constant([["c"], ["d"]])], separator="-",
                                     name="given")),
    ("sparse.cross_hashed", lambda tf, f: f([tf.constant([["a"], ["b"]]), tf.SparseTensor([[0, 0]], ["c"], [2, 1])],
                                            num_buckets=100, name="given")),
    ("serialize_sparse io.serialize_sparse serialize_many_sparse io.serialize_many_sparse",
     lambda tf, f: tf.shape(f(a(tf), name="given"))),
    ("deserialize_many_sparse io.deserialize_many_sparse",
     lambda tf, f: f(tf.serialize_many_sparse(a(tf)), tf.float32, rank=1, name="given")),
    ("SparseTensor sparse.SparseTensor", lambda tf, f: [f([[0, 1]], [1], [2, 2]), f([[0]], ["a"], [3]).get_shape()]),
    ("SparseTensor", lambda tf, f: f([[0, 1]], [[1]], [2, 2])),
    ("convert_to_tensor_or_sparse_tensor", lambda tf, f: [f(a(tf), tf.float32), f([1, 2], tf.int64, name="given"),
                                                          f(tf.SparseTensorValue([[0]], [1], [2]))]),
    ("convert_to_tensor_or_sparse_tensor", lambda tf, f: f(a(tf), tf.int32)),
    ("cast shape size rank", lambda tf, f: f(a(tf), *([tf.int32] if f is tf.cast else []))),
):
    each(names, function, names=False, shapes=FOLDED)
each("SparseTensor", lambda tf, f: [a(tf) * DENSE, a(tf) / (DENSE + 5), a(tf).dtype, a(tf).shape], names=False,
     shapes=FOLDED)


def gradients(tf):
    values, dense = tf.constant([1.0, 2.0, 3.0]), tf.constant(DENSE.T)
    sp = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], values, [3, 4])
    return Result([tf.sparse_tensor_dense_matmul(sp, dense), tf.sparse_tensor_to_dense(sp), tf.sparse_reduce_sum(sp, 0),
                   tf.sparse_softmax(sp).values, tf.sparse_add(sp, sp).values], wrt=[values, dense])


case("sparse_tensor_dense_matmul sparse_add", gradients, names=False, shapes=FOLDED)


def feed_and_fetch(tf, shape):
    """Values that a session returns for fed SparseTensors; the case returns them as arrays."""
    sp = tf.sparse_placeholder(tf.float32, shape=shape, name="sp")
    slices = tf.IndexedSlices(tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None]),
                              tf.constant([5, 2]))
    value = tf.SparseTensorValue(np.array([[0, 1]]), np.array([7.0], np.float32), np.array([2, 3]))
    with tf.Session() as session:
        feed = {sp: value, slices: (np.ones([1, 2]), np.array([3]), [5, 2])}
        results = session.run([sp, {"s": slices}, tf.sparse_tensor_to_dense(sp)], feed)
        again = session.run(sp, {sp: ([[1, 2]], [3.0], [2, 3])})
        dense = sp.eval({sp: value}, session)
    return [results[0], results[1]["s"], results[2], again, dense, sp.get_shape(), type(results[0]).__name__,
            type(results[1]["s"]).__name__]


case("sparse_placeholder sparse.placeholder SparseTensorValue Session.run", lambda tf: feed_and_fetch(tf, None))
case("sparse_placeholder sparse.placeholder", lambda tf: feed_and_fetch(tf, [None, 3]))
case("sparse_placeholder", lambda tf: tf.sparse_placeholder(tf.int64, [2, 3], name="given"))
