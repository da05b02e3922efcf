"""Discrete cosine transforms, and the mel frequency cepstral coefficients (MFCC) that are computed with them."""

import math

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.ops import arrays, complex_parts, elementwise, real_fourier

__all__ = ["dct", "idct", "linear_to_mel_weight_matrix", "mfccs_from_log_mel_spectrograms"]


def _check(x, type, axis, norm):
    if type not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported." if not isinstance(type, int) or type > 4
                         or type < 1 else "the (I)DCT of type IV is not supported")
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if x.shape.as_list()[-1] is None:
        raise NotImplementedError("cosine transforms of a tensor whose last dimension is not known before a step")
    if type == 1 and norm is not None:
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if type == 1 and x.shape.as_list()[-1] < 2:
        raise ValueError("Type-I DCT requires the dimension to be greater than one.")


def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The discrete cosine transform (DCT) of type 1, 2 or 3 along the last axis. Source: tf.signal.dct.

    The last axis, of size N, is cut or padded with zeros to `n` first. `norm` is None or "ortho". ValueError for other
    types and norms; NotImplementedError if N is not known before a step.
    """
    with name_scope(name, "dct", [input]):
        x = convert_to_tensor(input, None if hasattr(input, "dtype") else dtypes.float32)
        if n is not None:
            size = x.shape.as_list()[-1]
            x = x[..., :n] if n <= size else arrays.pad(x, [[0, 0]] * (x.shape.ndims - 1) + [[0, n - size]])
        _check(x, type, axis, norm)
        return _TRANSFORMS[type](x, x.shape.as_list()[-1], norm)


def _first(x, size, norm):
    mirrored = arrays.concat([x, x[..., -2:0:-1]], -1)
    return complex_parts.real(real_fourier.rfft(mirrored, [2 * size - 2]))


def _rotations(x, size, sign):
    """2 exp(±iπk/2N)."""
    angles = sign * math.pi / (2.0 * size) * np.arange(size)
    kind = np.complex128 if x.dtype == dtypes.float64 else np.complex64
    return convert_to_tensor((2.0 * np.exp(1j * angles)).astype(kind))


def _weights(x, size, first, others):
    weights = np.full([size], others)
    weights[0] = first
    return convert_to_tensor(weights.astype(x.dtype.as_numpy_dtype))


def _second(x, size, norm):
    transformed = complex_parts.real(real_fourier.rfft(x, [2 * size])[..., :size] * _rotations(x, size, -1))
    if norm is None:
        return transformed
    return transformed * _weights(x, size, 0.5 / math.sqrt(size), 0.5 * math.sqrt(2.0 / size))


def _third(x, size, norm):
    if norm is None:
        x = x * float(size)
    else:
        x = x * _weights(x, size, math.sqrt(size), math.sqrt(size * 0.5))
    rotated = elementwise.complex(x, arrays.zeros_like(x)) * _rotations(x, size, 1)
    return real_fourier.irfft(rotated, [2 * size])[..., :size]


_TRANSFORMS = {1: _first, 2: _second, 3: _third}
_INVERSE = {1: 1, 2: 3, 3: 2}


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of dct up to a factor. Source: tf.signal.idct.

    idct(dct(x)) is x if `norm` is "ortho", and otherwise 2N x, where N is the size of the last axis, or for type 1
    2(N - 1) x. NotImplementedError for `n`.
    """
    if n is not None:
        raise NotImplementedError(f"inverse_dct's n parameter is not supported, got: {n}")
    if type not in _INVERSE:
        _check(convert_to_tensor(input), type, axis, norm)
    return dct(input, _INVERSE[type], n, axis, norm, name)


def _mel(hertz):
    return 1127.0 * np.log1p(hertz / 700.0)


def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000, lower_edge_hertz=125.0,
                                upper_edge_hertz=3800.0, dtype=dtypes.float32, name=None):
    """The matrix [num_spectrogram_bins, num_mel_bins] that maps a spectrogram to the mel scale. See tf.signal.

    A column is a triangular filter; all filters are equally wide on the mel scale. ValueError for sizes and frequencies
    that are out of range.
    """
    dtype = dtypes.as_dtype(dtype)
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower_edge_hertz < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError(f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz {upper_edge_hertz:.1f}")
    if sample_rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    if upper_edge_hertz > sample_rate / 2:
        raise ValueError(f"upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got "
                         f"{upper_edge_hertz} for sample_rate: {sample_rate}")
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")
    with name_scope(name, "linear_to_mel_weight_matrix"):
        mels = _mel(np.linspace(0.0, sample_rate / 2.0, num_spectrogram_bins)[1:, np.newaxis])
        edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
        lower, centre, upper = edges[:-2], edges[1:-1], edges[2:]
        rising, falling = (mels - lower) / (centre - lower), (upper - mels) / (upper - centre)
        weights = np.maximum(0.0, np.minimum(rising, falling))
        return convert_to_tensor(np.pad(weights, [[1, 0], [0, 0]]).astype(dtype.as_numpy_dtype))


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """MFCCs [..., num_mel_bins] of log mel spectrograms of this shape: their DCT of type 2 / sqrt(2 * num_mel_bins)."""
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        x = convert_to_tensor(log_mel_spectrograms)
        size = x.shape.as_list()[-1]
        if size == 0:
            raise ValueError("num_mel_bins must be positive. Got: 0")
        return dct(x, 2) * (1.0 / math.sqrt(2.0 * size))
