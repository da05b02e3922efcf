"""Sparse tensors: gradients, serialization, maps. The values of single ops are tested by op_rows.py."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def _matrix(values, shape=(3, 4)):
    return tf.SparseTensor([[0, 0], [0, 2], [2, 1], [2, 3]], values, shape)


def _values():
    return tf1.placeholder(tf.float64, [4]), [1.0, -2.0, 3.0, 4.0]


def sparse_dense_matmul_gradient(s):
    x, fed = _values()
    b = tf1.placeholder(tf.float64, [4, 2])
    dense = np.arange(8.0).reshape(4, 2) - 3
    for adjoint in [False, True]:
        y = tf.sparse.sparse_dense_matmul(_matrix(x), tf.transpose(b) if adjoint else b, adjoint_b=adjoint)
        s.run([y] + tf.gradients(tf.reduce_sum(y * y), [x, b]), {x: fed, b: dense})


def sparse_add_gradient(s):
    x, fed = _values()
    z = tf1.placeholder(tf.float64, [2])
    other = tf.SparseTensor([[0, 0], [1, 1]], z, [3, 4])
    total = tf.sparse.add(_matrix(x), other)
    s.run([total] + tf.gradients(tf.square(total.values), [x, z]), {x: fed, z: [5.0, 6.0]})
    dense = tf1.placeholder(tf.float64, [3, 4])
    y = tf.sparse.add(_matrix(x), dense)
    s.run([y] + tf.gradients(tf.square(y), [x, dense]), {x: fed, dense: np.ones([3, 4])})


def sparse_reductions(s):
    x, fed = _values()
    for axis in [None, 0, 1, [0, 1], -1]:
        y = tf.sparse.reduce_sum(_matrix(x), axis)
        s.run([y] + tf.gradients(tf.square(y), x), {x: fed})
        s.run(tf.sparse.reduce_max(_matrix(x), axis, keepdims=True), {x: fed})
        s.run(tf1.sparse_reduce_sum_sparse(_matrix(x), axis), {x: fed})


def sparse_softmax_gradient(s):
    x, fed = _values()
    y = tf.sparse.softmax(_matrix(x))
    s.run([y] + tf.gradients(tf.square(y.values), x), {x: fed})


def sparse_times_dense(s):
    x, fed = _values()
    dense = tf1.placeholder(tf.float64, [3, 1])
    for y in [_matrix(x) * dense, _matrix(x) / dense]:
        s.run([y] + tf.gradients(tf.square(y.values), [x]), {x: fed, dense: [[1.0], [2.0], [3.0]]})


def sparse_structure(s):
    x, fed = _values()
    sparse = _matrix(x)
    filled, empty = tf.sparse.fill_empty_rows(sparse, tf.constant(7.0, tf.float64))
    s.run([filled, empty] + tf.gradients(tf.square(filled.values), x), {x: fed})
    s.run(tf.sparse.reshape(sparse, [2, -1]), {x: fed})
    s.run(tf.sparse.transpose(sparse), {x: fed})
    joined = tf.sparse.concat(1, [sparse, sparse])
    s.run(joined, {x: fed})
    s.run(tf.sparse.split(sp_input=sparse, num_split=2, axis=1), {x: fed})
    part = tf.sparse.slice(sparse, [0, 1], [3, 2])
    s.run([part] + tf.gradients(tf.square(part.values), x), {x: fed})
    s.run(tf.sparse.retain(sparse, [True, False, True, False]), {x: fed})
    s.run(tf.sparse.to_dense(sparse, default_value=-1.0), {x: fed})
    s.run(tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [1, 0]], np.array([2, 1], np.int64), [2, 1]), 4))
    s.run(tf.sparse.reset_shape(sparse), {x: fed})
    s.run(tf.sparse.maximum(sparse, sparse), {x: fed})
    s.run(tf.sparse.from_dense(tf.constant([[0, 1], [2, 0]])))


def sparse_placeholder(s):
    x = tf1.sparse_placeholder(tf.float32)
    with tf.device(s.worker(1)):
        y = tf.sparse.reduce_sum(x)
    s.run(y, {x: tf1.SparseTensorValue([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])})
    s.run(tf.sparse.to_dense(x), {x: tf1.SparseTensorValue([[0, 1], [5, 0]], [1.0, 2.0], [2, 2])})


def sparse_serialization(s):
    x, fed = _values()
    with tf.device(s.ps):
        many = tf.io.serialize_many_sparse(_matrix(x))
        one = tf.io.serialize_sparse(_matrix(x))
    with tf.device(s.worker(1)):
        s.run([many, one], {x: fed})
        s.run(tf.io.deserialize_many_sparse(many, tf.float64), {x: fed})
        s.run(tf.raw_ops.DeserializeSparse(serialized_sparse=one, dtype=tf.float64), {x: fed})
        s.run(tf.io.deserialize_many_sparse(many, tf.float32), {x: fed})
        s.run(tf.io.deserialize_many_sparse([["a", "b", "c"]], tf.float32))


def sparse_tensors_map(s):
    x, fed = _values()
    handles = tf.raw_ops.AddManySparseToTensorsMap(
        sparse_indices=_matrix(x).indices, sparse_values=x, sparse_shape=[3, 4], shared_name="kept")
    taken = tf.raw_ops.TakeManySparseFromTensorsMap(sparse_handles=handles, dtype=tf.float64, shared_name="kept")
    s.run(taken, {x: fed})
    missing = tf.raw_ops.TakeManySparseFromTensorsMap(
        sparse_handles=np.array([77], np.int64), dtype=tf.float64, shared_name="kept")
    s.run(missing)


def sparse_batches_through_a_queue(s):
    # Serialized sparse tensors go through the queue, and a batch of them is deserialized at once.
    queue = tf.queue.FIFOQueue(4, [tf.string], shapes=[[3]])
    enqueue = queue.enqueue([tf.io.serialize_sparse(_matrix(tf.constant([1.0, 2.0, 3.0, 4.0])))])
    batch = tf.io.deserialize_many_sparse(queue.dequeue_many(2), tf.float32)
    s.run(enqueue)
    s.run(enqueue)
    s.run(batch)


def embedding_lookup_sparse_trains(s):
    with tf.device(s.ps):
        table = tf1.get_variable("table", initializer=np.arange(20.0).reshape(5, 4) / 10, use_resource=False)
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([1, 3, 1], np.int64), [3, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([1.0, 2.0, 0.5]), [3, 2])
    with tf.device(s.worker(0)):
        outputs = [tf1.nn.embedding_lookup_sparse(table, ids, w, combiner=c)
                   for c in ["sum", "mean", "sqrtn"] for w in [None, weights]]
        safe = tf1.nn.safe_embedding_lookup_sparse(table, ids, default_id=4)
        loss = tf.add_n([tf.reduce_sum(tf.square(o)) for o in outputs + [safe]])
    train = tf1.train.GradientDescentOptimizer(0.01).minimize(loss)
    s.init()
    s.run(outputs + [safe, loss])
    s.run(train)
    s.run(table)


def shapes_with_too_many_elements(s):
    huge = tf.SparseTensor([[1, 2], [3, 4]], [1.0, 3.0], [2**32, 2**31])
    s.run(tf1.sparse.reduce_max(huge, 0))
    s.run(tf1.sparse.reduce_sum(huge, 0))
    s.run(tf1.sparse.reduce_sum_sparse(huge, 0).values)
    s.run(tf.sparse.softmax(huge).values)


def edit_distance(s):
    a = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    b = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "c", "d"], [2, 2])
    s.run(tf.edit_distance(a, b))
    s.run(tf.edit_distance(a, b, normalize=False))


def ragged_tensors(s):
    with tf.device(s.ps):
        table = tf1.get_variable("table", initializer=tf.reshape(tf.range(10.0), [5, 2]))
    with tf.device(s.worker(0)):
        ids = tf.ragged.constant([[0, 4, 2], [], [3, 3]])
        rows = tf.nn.embedding_lookup(tf.convert_to_tensor(table), ids)
        dense = rows.to_tensor(default_value=-1.0)
        means = tf.reduce_sum(rows, axis=1)
        chosen = tf.gather(rows, [2, 0])
        some = tf.concat([ids, tf.ragged.range([2, 0, 1])], axis=1)
        cut = ids.to_tensor(shape=[2, 2])
    s.init()
    s.run([dense, means, chosen.to_tensor(), some.values, some.row_splits, cut])
    s.run(tf1.gradients(dense * dense, table)[0])
    s.run(tf.ragged.stack([ids, ids[:2]]).to_tensor())
