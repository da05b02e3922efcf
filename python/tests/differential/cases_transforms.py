"""Fourier transforms, quantization, sets, tridiagonal matrices, exponentials of matrices, second derivatives."""

import numpy as np
from registry import case, each, floats, ints, op

X = floats(2, 3)
COMPLEX = (floats(2, 3, 4) + 1j * floats(2, 3, 4, seed=1)).astype(np.complex64)
QUIET = {"names": False}

op("fft signal.fft ifft signal.ifft", COMPLEX)
op("fft2d signal.fft2d ifft2d signal.ifft2d", COMPLEX, name="given")
op("fft3d signal.fft3d ifft3d signal.ifft3d", COMPLEX)
op("fft", COMPLEX.astype(np.complex128), name="given")
op("fft", X)
op("fft2d", COMPLEX[0, 0])
for name, of in (("rfft", floats(2, 8)), ("rfft2d", floats(2, 4, 6)), ("rfft3d", floats(4, 3, 6))):
    op("signal." + name, of, _options=QUIET)
    op("signal." + name, of.astype(np.float64), name="given", _options=QUIET)
op("signal.rfft", floats(2, 8), [5], _options=QUIET)
op("signal.rfft", floats(2, 8), fft_length=[12], name="given", _options=QUIET)
op("signal.irfft", COMPLEX, _options=QUIET)
op("signal.irfft", COMPLEX, fft_length=[5], _options=QUIET)
op("signal.irfft2d", COMPLEX, fft_length=[2, 8], name="given", _options=QUIET)
op("signal.irfft3d", COMPLEX, _options=QUIET)
op("signal.fftshift signal.ifftshift", floats(3, 4), _options=QUIET)
op("signal.fftshift signal.ifftshift", floats(3, 4), axes=1, name="given", _options=QUIET)

op("fake_quant_with_min_max_args quantization.fake_quant_with_min_max_args", X)
op("fake_quant_with_min_max_args quantization.fake_quant_with_min_max_args", X, min=-1.0, max=1.5, num_bits=4,
   narrow_range=True,
   name="given")
op("fake_quant_with_min_max_args", X, 2.0, 1.0)
op("fake_quant_with_min_max_args_gradient quantization.fake_quant_with_min_max_args_gradient", X, 2 * X, -1.0, 1.0,
   name="given")
op("fake_quant_with_min_max_vars quantization.fake_quant_with_min_max_vars", X, np.float32(-1), np.float32(1),
   num_bits=6)
op("fake_quant_with_min_max_vars quantization.fake_quant_with_min_max_vars", X, -1.0, 1.5, narrow_range=True,
   name="given")
op("fake_quant_with_min_max_vars_gradient quantization.fake_quant_with_min_max_vars_gradient", X, 2 * X, -1.0, 1.0,
   num_bits=7)
op("fake_quant_with_min_max_vars_per_channel quantization.fake_quant_with_min_max_vars_per_channel", X,
   np.array([-1, -1.5, 0], np.float32), np.array([1, 1, 1], np.float32), name="given")
op("fake_quant_with_min_max_vars_per_channel_gradient quantization.fake_quant_with_min_max_vars_per_channel_gradient",
   X, 2 * X,
   np.array([-1, -1.5, 0], np.float32), np.array([1, 1, 1], np.float32), num_bits=5, narrow_range=True, name="given")
op("quantization.quantize_and_dequantize", X, -1.0, 1.0, range_given=True, num_bits=4, name="given")
op("quantization.quantize_and_dequantize", X, 0.0, 0.0, signed_input=False, round_mode="HALF_UP")

SETS = np.array([[[1, 2, 2], [3, 4, 5]], [[7, 7, 7], [0, 9, 8]]], np.int64)
OTHERS = np.array([[[2, 3, 1], [9, 4, 4]], [[1, 7, 2], [1, 2, 3]]], np.int64)


def sparse_set(tf, of=SETS):
    places = np.argwhere(of > 0)
    return tf.SparseTensor(places, of[of > 0], of.shape)


for name in ("set_union", "set_intersection", "set_difference", "union", "intersection", "difference"):
    op("sets." + name, SETS, OTHERS, _options=QUIET)
    each("sets." + name, lambda tf, f: [f(tf.constant(SETS), sparse_set(tf, OTHERS)),
                                        f(sparse_set(tf), sparse_set(tf, OTHERS)),
                                        f(sparse_set(tf), sparse_set(tf, OTHERS), validate_indices=False)], **QUIET)
op("sets.set_difference sets.difference", SETS, OTHERS, aminusb=False, _options=QUIET)
op("sets.set_union", np.array([["a", "b"]]), np.array([["b", "c"]]), _options=QUIET)
op("sets.set_union", X, X)
op("sets.set_union", SETS, OTHERS.astype(np.int32))
each("sets.set_size sets.size", lambda tf, f: [f(sparse_set(tf)), f(sparse_set(tf), validate_indices=False)], **QUIET)

BANDS = floats(2, 3, 4, low=1.0)
FULL = floats(4, 4) + 4 * np.eye(4, dtype=np.float32)
for form, of in (("compact", BANDS), ("sequence", [BANDS[:, 0], BANDS[:, 1] + 4, BANDS[:, 2]]), ("matrix", FULL)):
    right = floats(*(() if form == "matrix" else (2,)), 4, 2)
    op("linalg.tridiagonal_matmul linalg.tridiagonal_solve", of, right, diagonals_format=form, name="given",
       _options=QUIET)
op("linalg.tridiagonal_solve", BANDS, floats(2, 4), _options=QUIET)
op("linalg.tridiagonal_solve", BANDS, floats(2, 2, 4), transpose_rhs=True, partial_pivoting=False, _options=QUIET)
op("linalg.tridiagonal_solve", (COMPLEX + 3)[:1].repeat(2, 0), COMPLEX.transpose(0, 2, 1), conjugate_rhs=True,
   _options=QUIET)
op("linalg.tridiagonal_solve", [BANDS[0, 0, 1:], BANDS[0, 1] + 4, BANDS[0, 2, 1:]], floats(4), "sequence",
   _options=QUIET)
op("linalg.tridiagonal_solve", BANDS, floats(2, 3, 1))
op("linalg.tridiagonal_solve", BANDS, floats(2, 4, 1), perturb_singular=True, partial_pivoting=False)
op("linalg.tridiagonal_solve linalg.tridiagonal_matmul", BANDS, floats(2, 4, 1), "wrong")
op("linalg.tridiagonal_solve", [BANDS[0, 0]], floats(4), "sequence")
for scale in (0.01, 0.3, 3.0, 9.0):
    op("linalg.expm", scale * floats(2, 3, 3, dtype=np.float64), name="given", _options=QUIET)
    op("linalg.expm", np.float32(scale / 3) * floats(3, 3), _options=QUIET)
op("linalg.expm", ints(3, 3))
op("linalg.expm", COMPLEX[:, :, :3], _options=QUIET)
op("linalg.normalize", X, _options=QUIET)
op("linalg.normalize", X, ord=1, axis=1, name="given", _options=QUIET)
op("linalg.normalize", X, ord=np.inf, axis=0, _options=QUIET)
op("linalg.l2_normalize", X, axis=1, epsilon=1e-3, name="given")
op("math.softmax math.log_softmax", X, axis=0, name="given", _options=QUIET)
op("math.softmax math.log_softmax", X, dim=1, _options=QUIET)


def second(tf, count=1):
    x, y = tf.constant(X), tf.constant([1.0, 3.0])
    z = tf.reduce_sum(x * x * x) * tf.reduce_sum(y * y)
    return tf.hessians(z, [x, y][:count] if count > 1 else x, name="given")


case("hessians", second, **QUIET)
case("hessians", lambda tf: second(tf, 2), **QUIET)
case("hessians", lambda tf: tf.hessians(tf.constant(1.0), tf.constant(2.0)))


def derived(tf, **options):
    x, y = tf.constant(X), tf.constant(2 * X)
    return tf.gradients([x * x, 3 * x], [x, y], **options)


case("gradients", lambda tf: derived(tf)[0], **QUIET)
case("gradients", lambda tf: derived(tf, grad_ys=[tf.constant(2 * X), tf.constant(X)], name="given")[0], **QUIET)
case("gradients UnconnectedGradients", lambda tf: [derived(tf, unconnected_gradients="zero"),
                                                   derived(tf, unconnected_gradients=tf.UnconnectedGradients("zero"))],
     **QUIET)
case("gradients AggregationMethod", lambda tf: [
    derived(tf, aggregation_method=tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N, gate_gradients=True)[0],
    derived(tf, aggregation_method=tf.AggregationMethod.DEFAULT, colocate_gradients_with_ops=True)[0],
    tf.AggregationMethod.ADD_N, tf.AggregationMethod.EXPERIMENTAL_TREE], **QUIET)
case("gradients", lambda tf: derived(tf, unconnected_gradients="wrong"))
case("gradients", lambda tf: tf.gradients(tf.constant(COMPLEX), tf.constant(X)))
case("UnconnectedGradients", lambda tf: [u.value for u in tf.UnconnectedGradients])
case("UnconnectedGradients", lambda tf: tf.UnconnectedGradients("wrong"))

IMAGES, FILTERS = floats(1, 4, 5, 2), floats(2, 2, 2, 3, seed=2)
op("conv", IMAGES, FILTERS, [1, 1, 1, 1], "VALID", name="given", _options=QUIET)

TRUE = np.array([[1, 3], [2, 0]], np.int64)
for name, arguments in (
    ("uniform", (TRUE, 2, 4, True, 9)), ("log_uniform", (TRUE, 2, 4, True, 9)),
    ("learned_unigram", (TRUE, 2, 4, False, 9)),
    ("fixed_unigram", (TRUE, 2, 3, True, 5, "", 0.5, 0, 1, 0, (1.0, 2.0, 3.0, 4.0, 5.0))), ("all", (TRUE, 2, 4, True)),
):
    op(f"random.{name}_candidate_sampler", *arguments, seed=7, name="given")
op("random.uniform_candidate_sampler", TRUE, 3, 4, True, 9)
case("random.fold_in random.split", lambda tf: [tf.random.fold_in([1, 2], 3), tf.random.split([1, 2], 3),
                                               tf.random.split(tf.constant([1, 2], tf.int64), num=2, alg="philox"),
                                               tf.random.fold_in([1, 2], data=4, alg="philox")])
op("strings.unsorted_segment_join", np.array(["a", "b", "c"]), [1, 0, 1], 3)
op("strings.unsorted_segment_join", np.array([["a", "b"], ["c", "d"]]), [0, 0], num_segments=2, separator="+",
   name="given")
op("strings.unsorted_segment_join", np.array(["a", "b"]), [0, 5], 2)
