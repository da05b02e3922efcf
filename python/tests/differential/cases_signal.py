"""Frames, windows and transforms of signals."""

import numpy as np
from registry import Result, Type, case, floats, op

SIGNAL = floats(2, 21)
DOUBLE = SIGNAL.astype(np.float64)

for names in ("signal.hann_window", "signal.hamming_window"):
    op(names, 8, _options={"names": False})
    op(names, 7, periodic=False, dtype=Type("float64"), name="given", _options={"names": False})
    op(names, 9, _options={"names": False})
    op(names, 1, _options={"names": False})
    op(names, 2, periodic=False, _options={"names": False})
    op(names, 4, dtype=Type("int32"), _options={"names": False})


def framed(tf, *args, **kwargs):
    x = tf.constant(SIGNAL)
    return Result([tf.signal.frame(x, *args, **kwargs)], wrt=[x])


def of_placeholder(function, *shapes, dtype="float32"):
    """A case's result for placeholders of unknown sizes."""
    def run(tf):
        given = [tf.placeholder(dtype, [None] * len(shape)) for shape in shapes]
        values = [floats(*shape).astype(dtype) for shape in shapes]
        return Result([function(tf, *given)], feed=dict(zip(given, values)))

    return run


for args, kwargs in (((4, 2), {}), ((4, 3), {"pad_end": True, "pad_value": 2.0, "name": "given"}), ((30, 5), {}),
                     ((30, 5), {"pad_end": True}), ((1, 2), {"axis": 0}), ((5, 7), {"axis": -2, "pad_end": True})):
    case("signal.frame", lambda tf, args=args, kwargs=kwargs: framed(tf, *args, **kwargs), names=False)
case("signal.frame", of_placeholder(lambda tf, x: tf.signal.frame(x, 4, 2), (2, 11)), names=False)
case("signal.frame", of_placeholder(lambda tf, x: tf.signal.frame(x, 4, 3, pad_end=True), (2, 11)), names=False)


def added(tf, step, **kwargs):
    x = tf.constant(floats(2, 5, 4))
    return Result([tf.signal.overlap_and_add(x, step, **kwargs)], wrt=[x])


case("signal.overlap_and_add", lambda tf: added(tf, 2), names=False)
case("signal.overlap_and_add", lambda tf: added(tf, 3, name="given"), names=False)
case("signal.overlap_and_add", lambda tf: added(tf, 6), names=False)
case("signal.overlap_and_add", lambda tf: tf.signal.overlap_and_add(tf.ones([3]), 2), names=False)


def transformed(tf, x, *args, **kwargs):
    x = tf.constant(x)
    transform = tf.signal.stft(x, *args, **kwargs)
    return Result([transform, tf.gradients(tf.abs(transform), x)], feed={})


case("signal.stft", lambda tf: transformed(tf, SIGNAL, 8, 4), names=False)
case("signal.stft", lambda tf: transformed(tf, DOUBLE, 6, 3, fft_length=10, window_fn=tf.signal.hamming_window,
                                           pad_end=True, name="given"), names=False)
case("signal.stft", lambda tf: transformed(tf, SIGNAL, 6, 3, window_fn=None), names=False)
case("signal.stft", of_placeholder(lambda tf, x: tf.signal.stft(x, 6, 3), (2, 20)), names=False)


def restored(tf, length, step, window, **kwargs):
    stfts = tf.signal.stft(tf.constant(SIGNAL), length, step, **{key: value for key, value in kwargs.items()
                                                                 if key == "fft_length"})
    return tf.signal.inverse_stft(stfts, length, step, window_fn=window(tf), **kwargs)


case("signal.inverse_stft", lambda tf: restored(tf, 8, 4, lambda tf: tf.signal.hann_window), names=False)
case("signal.inverse_stft signal.inverse_stft_window_fn", lambda tf: restored(
    tf, 8, 2, lambda tf: tf.signal.inverse_stft_window_fn(2), fft_length=16, name="given"), names=False)
case("signal.inverse_stft_window_fn", lambda tf: tf.signal.inverse_stft_window_fn(
    3, forward_window_fn=tf.signal.hamming_window, name="given")(8, dtype=tf.float64), names=False)
case("signal.inverse_stft", lambda tf: restored(tf, 6, 3, lambda tf: None, fft_length=4), names=False)

for kind in (1, 2, 3):
    for name in ("signal.dct", "signal.idct"):
        op(name, floats(2, 6), type=kind, _options={"names": False})
        op(name, floats(6).astype(np.float64), type=kind, name="given", _options={"names": False})
        if kind > 1:
            op(name, floats(2, 5), type=kind, axis=-1, norm="ortho", _options={"names": False})
op("signal.dct", floats(2, 6), n=4, _options={"names": False})
op("signal.dct", floats(2, 6), n=9, _options={"names": False})
op("signal.dct", floats(2, 6), type=1, norm="ortho", _options={"names": False})
op("signal.dct", floats(2, 6), norm="other", _options={"names": False})
op("signal.dct", floats(2, 6), type=7, _options={"names": False})
op("signal.linear_to_mel_weight_matrix", _options={"names": False})
op("signal.linear_to_mel_weight_matrix", num_mel_bins=5, num_spectrogram_bins=17, sample_rate=16000,
   lower_edge_hertz=20.0, upper_edge_hertz=7600.0, dtype=Type("float64"), name="given", _options={"names": False})
for wrong in ({"num_mel_bins": 0}, {"lower_edge_hertz": -1.0}, {"upper_edge_hertz": 5000.0}, {"sample_rate": 0},
              {"lower_edge_hertz": 3900.0}):
    op("signal.linear_to_mel_weight_matrix", _options={"names": False}, **wrong)
op("signal.mfccs_from_log_mel_spectrograms", floats(3, 20), _options={"names": False})
op("signal.mfccs_from_log_mel_spectrograms", floats(3, 20), name="given", _options={"names": False})
