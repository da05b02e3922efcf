"""Array functions whose gradients TensorFlow composes of several ops, and tensors that do not hold numbers."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def _gradient(s, f, *arrays):
    xs = [tf1.placeholder(tf.float64, a.shape) for a in arrays]
    y = f(*xs)
    grads = [g for g in tf.gradients(tf.reduce_sum(y * y), xs) if g is not None]
    s.run([y] + grads, dict(zip(xs, arrays)))


A = np.arange(24.0).reshape(2, 3, 4) / 7 - 1


def gather_gradients(s):
    _gradient(s, lambda x: tf.gather(x, [[1, 0], [1, 1]], axis=1), A)
    _gradient(s, lambda x: tf.gather(x, [[1, 0], [2, 1]], axis=1, batch_dims=1), A)
    _gradient(s, lambda x: tf.gather(x, [[1, 0], [2, 1]], axis=2, batch_dims=1), A)
    _gradient(s, lambda x: tf.gather_nd(x, [[1, 0], [1, 0]]), A)
    _gradient(s, lambda x: tf.gather_nd(x, [[[1], [0]], [[2], [2]]], batch_dims=1), A)
    _gradient(s, lambda x: tf.boolean_mask(x, [[True, False, True], [False, True, True]]), A)


def scatter_gradients(s):
    places = [[1, 2], [0, 0]]
    rows = np.arange(8.0).reshape(2, 4)
    _gradient(s, lambda u: tf.scatter_nd(places, u, [2, 3, 4]), rows)
    for f in [tf.tensor_scatter_nd_update, tf.tensor_scatter_nd_add, tf.tensor_scatter_nd_sub,
              tf.tensor_scatter_nd_max, tf.tensor_scatter_nd_min]:
        _gradient(s, lambda x, u, f=f: f(x, places, u), A, rows)


def rearranged_gradients(s):
    _gradient(s, lambda x: tf.reverse_sequence(x, [2, 3], seq_axis=1), A)
    _gradient(s, lambda x: tf.reverse(x, [0, 2]), A)
    _gradient(s, lambda x: tf.roll(x, [1, -2], [0, 2]), A)
    _gradient(s, lambda x: tf.pad(x, [[0, 1], [2, 1], [1, 1]], "REFLECT"), A)
    _gradient(s, lambda x: tf.pad(x, [[0, 1], [2, 1], [1, 1]], "SYMMETRIC"), A)
    _gradient(s, lambda x: tf.space_to_batch(x, [2], [[1, 0]]), A)
    _gradient(s, lambda x: tf.batch_to_space(x, [2], [[1, 0]]), A)
    _gradient(s, lambda x: tf.nn.space_to_depth(tf.reshape(x, [1, 2, 4, 3]), 2), A)
    _gradient(s, lambda x: tf.nn.depth_to_space(tf.reshape(x, [1, 2, 3, 4]), 2), A)
    _gradient(s, lambda x: tf.transpose(x, [2, 0, 1], conjugate=True), A)
    _gradient(s, lambda x: tf.nn.top_k(x, 2).values, A)
    _gradient(s, lambda x: tf.nn.top_k(x, 2, sorted=True).values, A[0, 0])
    _gradient(s, lambda x: tf.tile(x, [1, 2, 1]) + tf.repeat(x, 2, axis=1), A)
    _gradient(s, lambda x: tf.stack(tf.unstack(x, axis=1), axis=2), A)
    _gradient(s, lambda x: x[:, 1:, ::-1] * x[..., tf.newaxis, 1, :], A)
    _gradient(s, lambda x: tf.meshgrid(x, x)[0], A[0, 0])


def activation_gradients(s):
    for f in [tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.selu, tf.nn.softplus, tf.nn.softsign, tf.nn.leaky_relu,
              tf.nn.log_softmax, tf.nn.softmax, tf.nn.swish]:
        xs = tf1.placeholder(tf.float64, A.shape)
        y = f(xs)
        first = tf.gradients(tf.reduce_sum(y * y), xs)[0]
        second = tf.gradients(first, xs) if f != tf.nn.softsign else []
        s.run([y, first] + second, {xs: A + 0.03})
    _gradient(s, tf.nn.l2_loss, A)
    _gradient(s, lambda x, b: tf.nn.bias_add(x, b), A, np.arange(4.0))
    _gradient(s, lambda x, b: tf.nn.bias_add(x, b, data_format="NCW"), A, np.arange(3.0))


def losses(s):
    logits, labels = A[0], np.full([3, 4], 0.25)
    _gradient(s, lambda x, p: tf1.nn.softmax_cross_entropy_with_logits_v2(labels=p, logits=x), logits, labels)
    _gradient(s, lambda x: tf1.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 3, 1], logits=x), logits)
    _gradient(s, lambda x: tf1.nn.sparse_softmax_cross_entropy_with_logits(labels=[[0, 3, 1], [1, 1, 1]], logits=x), A)
    _gradient(s, lambda x, p: tf.nn.weighted_cross_entropy_with_logits(p, x, 2.0), logits, labels)
    s.run(tf.nn.in_top_k([0, 3, 1], tf.constant(logits, tf.float32), 2))


def quantized(s):
    """Quantized dtypes: integers that stand for real numbers. The ops here move, keep and compare the stored
    integers."""
    for q, plain in [(tf.qint8, np.int8), (tf.quint8, np.uint8), (tf.qint16, np.int16), (tf.quint16, np.uint16),
                     (tf.qint32, np.int32)]:
        values = np.array([[0, 1, 2], [3, 4, 100]], plain)
        if np.iinfo(plain).min < 0:
            values = values - np.array(50, plain)
        with tf.device(s.ps):
            x = tf1.placeholder(q, [None, 3])
            queue = tf1.FIFOQueue(3, [q], [[2, 3]])
        with tf.device(s.worker(1)):
            moved = [tf.identity(x), tf.reshape(x, [-1]), tf.concat([x, x], 0), tf.stack([x, x]), tf.gather(x, [1, 0]),
                     tf.zeros([2], q), tf.bitcast(x, tf.as_dtype(plain)), tf.shape(x)]
            s.run(moved + [tf.equal(x, moved[4]), tf.not_equal(x, moved[4]), tf.cast(x, tf.float32),
                           tf.cast(tf.constant([1.5, 2.25]), q), tf.constant(values, q)], {x: values})
            if q != tf.qint32:  # TensorFlow shows qint32 as question marks
                s.run(tf.strings.format("{}", x), {x: values})
        s.run(queue.enqueue([x]), {x: values})
        s.run(queue.dequeue())
    for q, plain in [(tf.qint8, np.int8), (tf.quint8, np.uint8), (tf.qint32, np.int32)]:
        with tf.device(s.ps):
            first = tf.bitcast(tf.constant(np.arange(6).reshape(2, 3), tf.as_dtype(plain)), q)
            variables = [tf1.get_variable(f"{q.name}_{r}", initializer=first, use_resource=r) for r in [False, True]]
        s.run([v.initializer for v in variables])
        s.run(variables + [v.read_value()[1:] for v in variables])
        s.run(tf1.assign(variables[0], tf.bitcast(tf.constant(np.full([2, 3], 7), tf.as_dtype(plain)), q)))
        s.run(variables)


def unique_and_lists(s):
    words = tf1.placeholder(tf.string, [None])
    with tf.device(s.worker(1)):
        outputs = [tf.unique(words), tf.unique_with_counts(words), tf1.setdiff1d(words, ["b"])]
    s.run(outputs, {words: ["b", "a", "b", ""]})
    s.run(outputs, {words: []})
    s.run(tf.searchsorted([1.0, 3.0, 3.0, 7.0], [0.0, 3.0, 9.0]))
    s.run(tf.searchsorted([1, 3, 3, 7], [0, 3, 9], side="right"))
    s.run(tf.sort([[3.0, 1.0, 2.0]], direction="DESCENDING"))
    s.run(tf.argsort([[3, 1, 2]]))
    s.run(tf.unravel_index([22, 41], [7, 6]))
    s.run(tf.sequence_mask([1, 3, 0], 4))
    s.run(tf.where([[True, False], [True, True]]))


def what_is_no_number(s):
    text = tf.constant([["a", "b", "c"], ["d", "e", "f"]])
    flags = tf.constant([[True, False, True], [False, False, True]])
    wide = tf.constant([[1 + 2j, 3, 4j], [5, 6, 7 - 1j]], tf.complex128)
    for x in [text, flags, wide]:
        with tf.device(s.ps):
            y = tf.identity(x)
        with tf.device(s.worker(0)):
            s.run([tf.transpose(y), tf.reshape(y, [-1]), tf.concat([y, y], 1), tf.stack([y, y], 2), y[1:, ::2],
                   tf.gather(y, [2, 0], axis=1), tf.gather_nd(y, [[1, 1]]), tf.tile(y, [2, 1]), tf.split(y, 3, 1),
                   tf.reverse(y, [1]), tf.unstack(y), tf.expand_dims(y, 0), tf.broadcast_to(y[:1], [3, 3]),
                   tf.roll(y, 1, 1), tf.pad(y, [[1, 0], [0, 0]]) if x is not text else y, tf.shape(y), tf.size(y),
                   tf.fill([2], y[0, 0]), tf.tensor_scatter_nd_update(y, [[0]], y[1:]), tf.stop_gradient(y)])


def shapes_that_are_fed(s):
    x = tf1.placeholder(tf.float32)
    shape = tf1.placeholder(tf.int32)
    s.run(tf.reshape(x, shape), {x: np.zeros([2, 3]), shape: [3, -1]})
    s.run(tf.reshape(x, shape), {x: np.zeros([2, 3]), shape: [4, -1]})
    s.run(tf.ensure_shape(x, [None, 3]), {x: np.zeros([2, 3])})
    s.run(tf.ensure_shape(x, [None, 4]), {x: np.zeros([2, 3])})
    s.run(tf.broadcast_to(x, shape), {x: [[1.0], [2.0]], shape: [2, 2]})
    s.run(tf.gather(x, [5]), {x: [1.0, 2.0]})
    s.run(tf.slice(x, [0], [3]), {x: [1.0, 2.0]})
    s.run(tf1.parallel_stack([tf.constant([1, 2]), tf.constant([3, 4])]))
    s.run(tf.bitcast(tf.constant([1.0, 2.0]), tf.int32))
    s.run(tf1.placeholder_with_default([1.0], [None]))


def impossible_reshapes(s):
    """Errors of reshapes, with the phrases that programs look for."""
    for size, shape, text in [(6, [7], "Input to reshape is a tensor with 6 values, but the requested shape has 7"),
                              (6, [3, 7], "is a tensor with 6 values, but the requested shape has 21"),
                              (6, [4, -1], "the requested shape requires a multiple of 4")]:
        x = tf1.placeholder_with_default(np.zeros(size, np.float32), None)
        s.run(tf.reshape(x, tf1.placeholder_with_default(shape, None)), text=text)
