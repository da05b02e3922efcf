"""Mathematics, reductions, segments and linear algebra: forward, by tf.gradients, and in error."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def _gradients_of(s, f, *arrays, dtype=tf.float64):
    """Runs f of placeholders that are fed these values. Also runs the gradients of the weighted sum of the results."""
    xs = [tf1.placeholder(dtype, np.shape(a)) for a in arrays]
    feeds = dict(zip(xs, arrays))
    y = f(*xs)
    weights = tf.reshape(tf.cast(tf.range(tf.size(y)) % 5 + 1, y.dtype), tf.shape(y))
    s.run([y] + tf1.gradients(y, xs, weights), feeds)


def unary_gradients(s):
    for f in [tf.sin, tf.cos, tf.tan, tf.asin, tf.acos, tf.atan, tf.sinh, tf.cosh, tf.tanh, tf.asinh, tf.atanh, tf.exp,
              tf.math.expm1, tf.math.log1p, tf.math.erf, tf.math.erfc, tf.math.erfinv, tf.sigmoid, tf.square, tf.abs,
              tf.negative, tf.sign, tf.math.softplus, tf.math.special.dawsn, tf.math.bessel_i0e, tf.math.bessel_i1e]:
        _gradients_of(s, f, [[-0.8, -0.3], [0.2, 0.6]])
    for f in [tf.math.log, tf.sqrt, tf.math.rsqrt, tf.math.reciprocal, tf.math.lgamma, tf.math.digamma, tf.math.ndtri,
              tf.math.special.expint, tf.math.special.spence, tf.math.special.bessel_k0, tf.math.special.bessel_y1]:
        _gradients_of(s, f, [[0.1, 0.3], [0.6, 0.9]])
    _gradients_of(s, tf.acosh, [1.5, 2.5])


def binary_gradients(s):
    x, y = [[0.5, 1.5, 2.5]], [[0.3], [1.2]]
    for f in [tf.add, tf.subtract, tf.multiply, tf.divide, tf.pow, tf.maximum, tf.minimum, tf.atan2,
              tf.math.squared_difference, tf.math.divide_no_nan, tf.math.multiply_no_nan, tf.math.xdivy, tf.math.xlogy,
              tf.math.xlog1py, tf.math.floormod, tf.math.igamma, tf.math.igammac]:
        _gradients_of(s, f, x, y)
    _gradients_of(s, lambda q: tf.math.zeta(tf.constant([2.5], tf.float64), q), [0.5, 1.5])
    _gradients_of(s, lambda q: tf.math.polygamma(tf.constant(1.0, tf.float64), q), [0.5, 1.5])
    _gradients_of(s, lambda q: tf.math.betainc(tf.constant(1.5, tf.float64), tf.constant(0.5, tf.float64), q), [0.2, 0.7])


def second_gradients(s):
    for f in [tf.tanh, tf.sigmoid, tf.sqrt, tf.math.rsqrt, tf.math.reciprocal, tf.exp, tf.math.log]:
        x = tf1.placeholder(tf.float64, [3])
        first, = tf1.gradients(f(x), x)
        s.run([first] + tf1.gradients(first, x), {x: [0.3, 0.8, 1.7]})


def complex_numbers(s):
    for dtype in [tf.complex64, tf.complex128]:
        x = tf1.placeholder(dtype, [3])
        feeds = {x: np.array([1 + 2j, -0.5 + 1j, 2 - 3j])}
        y = tf.constant([0.5 + 1j, 2, 1j], dtype)
        for f in [x + y, x - y, x * y, x / y, tf.pow(x, y), tf.exp(x), tf.math.log(x), tf.sqrt(x), tf.sin(x), tf.tanh(x),
                  tf.math.conj(x), tf.abs(x), tf.math.angle(x), tf.math.real(x), tf.math.imag(x), tf.equal(x, y),
                  tf.reduce_sum(x), tf.reduce_mean(x), tf.reduce_prod(x), tf.cumsum(x)]:
            s.run(f, feeds)
        for f in [tf.math.real(x * y), tf.abs(x), tf.math.imag(tf.exp(x)), tf.math.real(x * tf.math.conj(x))]:
            s.run(tf1.gradients(f, x), feeds)
        m = tf.reshape(tf.concat([x, y, x], 0), [3, 3])
        s.run([tf.matmul(m, m, adjoint_a=True), tf.linalg.matmul(m, m, transpose_b=True)], feeds)


def integers(s):
    for dtype in [tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64]:
        x, y = tf.constant([7, 100, 3], dtype), tf.constant([2, 7, 5], dtype)
        s.run([x + y, x - y, x * y, x // y, x % y, tf.bitwise.bitwise_and(x, y), tf.bitwise.bitwise_or(x, y),
               tf.bitwise.bitwise_xor(x, y), tf.bitwise.left_shift(x, y), tf.bitwise.right_shift(x, y), tf.bitwise.invert(x),
               tf.maximum(x, y), tf.less(x, y), tf.equal(x, y), tf.reduce_sum(x), tf.reduce_max(x), tf.argmax(x)])
    for op in [tf.math.floordiv, tf.math.floormod, tf.truncatediv, tf.truncatemod]:
        zero = tf1.placeholder(tf.int32, [2])
        s.run(op(tf.constant([1, 2]), zero), {zero: [1, 0]})
    s.run(tf.pow(tf.constant([2, 3]), tf.constant([1, -1])))


def reductions(s):
    x = np.arange(24.0).reshape(2, 3, 4) / 7 - 1.3
    for f in [tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max, tf.reduce_min, tf.math.reduce_euclidean_norm,
              tf.reduce_logsumexp, tf.math.reduce_std, tf.math.reduce_variance]:
        for axis in [None, 1, [0, 2], -1]:
            _gradients_of(s, lambda v, f=f, axis=axis: f(v, axis), x)
            _gradients_of(s, lambda v, f=f, axis=axis: f(v, axis, keepdims=True), x)
    axis = tf1.placeholder(tf.int32)
    s.run(tf.reduce_sum(tf.constant(x), axis), {axis: [0, 2]})
    s.run(tf.reduce_sum(tf.constant(x), axis), {axis: 5})
    s.run(tf.reduce_sum(tf.constant(x), axis), {axis: [0, 0]})


def scans_and_segments(s):
    x = np.arange(12.0).reshape(4, 3) / 5 + 0.2
    for exclusive in [False, True]:
        for reverse in [False, True]:
            _gradients_of(s, lambda v: tf.cumsum(v, 0, exclusive, reverse), x)
            _gradients_of(s, lambda v: tf.math.cumprod(v, 1, exclusive, reverse), x)
            _gradients_of(s, lambda v: tf.math.cumulative_logsumexp(v, 1, exclusive, reverse), x)
    ids = tf.constant([0, 0, 2, 2])
    for f in [tf.math.segment_sum, tf.math.segment_mean, tf.math.segment_prod, tf.math.segment_max, tf.math.segment_min]:
        _gradients_of(s, lambda v, f=f: f(v, ids), x)
    for f in [tf.math.unsorted_segment_sum, tf.math.unsorted_segment_prod, tf.math.unsorted_segment_max,
              tf.math.unsorted_segment_min, tf.math.unsorted_segment_mean, tf.math.unsorted_segment_sqrt_n]:
        _gradients_of(s, lambda v, f=f: f(v, tf.constant([2, 0, 2, -1]), 3), x)
    indices = tf.constant([3, 1, 1, 0, 2])
    segments = tf.constant([0, 0, 1, 3, 3])
    for f in [tf.sparse.segment_sum, tf.sparse.segment_mean, tf.sparse.segment_sqrt_n]:
        _gradients_of(s, lambda v, f=f: f(v, indices, segments), x)
        _gradients_of(s, lambda v, f=f: f(v, indices, segments, num_segments=6), x)
    wrong = tf1.placeholder(tf.int32, [4])
    s.run(tf.math.segment_sum(tf.constant(x), wrong), {wrong: [0, 2, 1, 3]})
    s.run(tf.math.unsorted_segment_sum(tf.constant(x), wrong, 3), {wrong: [0, 2, 1, 3]})


def counting(s):
    v = tf1.placeholder(tf.int32, [None])
    feeds = {v: [1, 5, 1, 0, 3]}
    s.run([tf.math.bincount(v), tf.math.bincount(v, minlength=8), tf.math.bincount(v, maxlength=3),
           tf.math.bincount(v, weights=[1.0, 2.0, 3.0, 4.0, 5.0])], feeds)
    s.run([tf.histogram_fixed_width(tf.cast(v, tf.float32), [0.0, 5.0], 3), tf.math.confusion_matrix([1, 2, 0], [1, 0, 2])],
          feeds)
    s.run([tf.linspace(0.0, 1.0, 5), tf.range(3, 18, 3), tf.clip_by_value(v, 1, 3),
           tf.linalg.cross([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])], feeds)
    _gradients_of(s, lambda x: tf.clip_by_value(x, -1.0, 1.0), [-2.0, 0.5, 3.0])
    _gradients_of(s, lambda x: tf.clip_by_norm(x, 1.0), [-2.0, 0.5, 3.0])


def matrix_products(s):
    x, y = np.arange(12.0).reshape(2, 2, 3) / 5, np.arange(24.0).reshape(2, 3, 4) / 7
    _gradients_of(s, tf.matmul, x, y)
    _gradients_of(s, tf.matmul, x[0], y[0])
    _gradients_of(s, lambda a, b: tf.matmul(a, b, transpose_a=True, adjoint_b=True), np.swapaxes(x, 1, 2), np.swapaxes(y, 1, 2))
    _gradients_of(s, tf.matmul, x, y[0])
    for equation in ["bij,bjk->bik", "bij,bjk->ik", "bij,bjk->kib", "...ij,...jk->...ik", "bij,cjk->bcik"]:
        _gradients_of(s, lambda a, b, e=equation: tf.einsum(e, a, b), x, y)
    _gradients_of(s, lambda a: tf.einsum("bij->j", a), x)
    _gradients_of(s, lambda a, b: tf.tensordot(a, b, [[2], [1]]), x, y)
    a = tf1.placeholder(tf.float32, [None, None])
    s.run(tf.matmul(a, a), {a: np.ones([2, 3])})


def linear_algebra(s):
    m = np.array([[4.0, 1, 2], [1, 3, 0.5], [2, 0.5, 5]])
    b = np.array([[1.0, 2], [3, 4], [5, 6]])
    for f in [tf.linalg.inv, tf.linalg.det, tf.linalg.logdet, tf.linalg.cholesky, tf.linalg.trace, tf.linalg.diag_part,
              tf.linalg.expm, tf.linalg.sqrtm]:
        _gradients_of(s, lambda a, f=f: f((a + tf.transpose(a)) / 2), m)
    _gradients_of(s, tf.linalg.solve, m, b)
    _gradients_of(s, lambda a, c: tf.linalg.solve(a, c, adjoint=True), m, b)
    _gradients_of(s, lambda a, c: tf.linalg.triangular_solve(a, c, lower=False), m, b)
    _gradients_of(s, lambda a, c: tf.linalg.lstsq(a, c, l2_regularizer=0.1), m[:, :2], b)
    _gradients_of(s, lambda a: tf.linalg.svd(a)[0], m)
    _gradients_of(s, lambda a: tf.linalg.qr(a)[1], m)
    _gradients_of(s, lambda a: tf.linalg.eigvalsh(a), m)
    _gradients_of(s, lambda a: tf.linalg.slogdet(a)[1], m)
    _gradients_of(s, tf.linalg.diag, b)
    _gradients_of(s, lambda d: tf.linalg.diag(d, k=1), b)
    _gradients_of(s, lambda a: tf.linalg.band_part(a, 1, 0), m)
    _gradients_of(s, lambda a, d: tf.linalg.set_diag(a, d), m, [1.0, 2, 3])
    _gradients_of(s, lambda a: tf.linalg.diag_part(a, k=(-1, 1)), m)
    _gradients_of(s, lambda d, c: tf.linalg.tridiagonal_solve(d, c), m, b)
    singular = tf1.placeholder(tf.float64, [2, 2])
    s.run(tf.linalg.inv(singular), {singular: np.ones([2, 2])})
    s.run(tf.linalg.det(singular), {singular: np.ones([2, 2])})


def square_roots_of_matrices(s):
    """The square root of a real matrix may be complex: a rotation has a real square root, a reflection has not."""
    for matrix in ([[0, -1], [1, 0]], [[4, 1], [0, 9]], [[-1, 0], [0, -1]], [[4, 0], [0, -9]], [[0, 0], [0, 0]]):
        for dtype in (np.float32, np.float64, np.complex128):
            s.run(tf.linalg.sqrtm(tf1.placeholder_with_default(np.array(matrix, dtype), None)))


def fourier(s):
    x = np.cos(np.arange(20.0)).reshape(4, 5)
    z = tf.complex(tf.constant(x), tf.constant(x[::-1].copy()))
    s.run([tf.signal.fft(z), tf.signal.ifft(z), tf.signal.fft2d(z), tf.signal.ifft2d(z), tf.signal.rfft(x),
           tf.signal.rfft(x, [3]), tf.signal.irfft(z), tf.signal.irfft(z, [7]), tf.signal.rfft2d(x)])
    _gradients_of(s, lambda v: tf.abs(tf.signal.rfft(v)), x)
    _gradients_of(s, lambda v: tf.signal.irfft(tf.complex(v, v)), x)
    _gradients_of(s, lambda v: tf.abs(tf.signal.fft(tf.complex(v, 2 * v))), x)


def denormal_numbers_are_zero(s):
    for dtype, bits in [(np.float32, tf.int32), (np.float64, tf.int64)]:
        tiny = np.finfo(dtype).tiny
        for shape in [(), (1 << 20,)]:
            product = tf1.placeholder_with_default(dtype(0.1), []) * tf.constant(tiny, shape=shape)
            s.run(tf.reduce_max(tf.bitcast(product, bits)))
            s.run(tf.reduce_max(tf.bitcast(dtype(0.1) * tf.constant(tiny, shape=shape), bits)))
