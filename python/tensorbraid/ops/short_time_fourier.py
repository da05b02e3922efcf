"""Short-time Fourier transforms: window functions, overlapping frames, and the transforms of frames."""

import math

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.ops import arrays, elementwise, indexing, real_fourier, reductions, segment_ops, sequences

__all__ = ["frame", "hamming_window", "hann_window", "inverse_stft", "inverse_stft_window_fn", "overlap_and_add",
           "stft"]


def _number(value, name):
    """The integer value of an argument. NotImplementedError for a tensor whose value is not constant."""
    known = arrays.get_static_value(convert_to_tensor(value, dtypes.int32, name))
    if known is None:
        raise NotImplementedError(f"{name} must be known before a step")
    if np.ndim(known) != 0:
        raise ValueError(f"{name} must be a scalar, got {value}")
    return int(known)


# Windows.

def _raised_cosine(name, default_name, window_length, periodic, dtype, a, b):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    with name_scope(name, default_name, [window_length]):
        length = _number(window_length, "window_length")
        if length == 1:
            return arrays.ones([1], dtype)
        divisor = length + (1 if periodic else 0) * (1 - length % 2) - 1
        angles = 2 * math.pi * np.arange(length) / max(divisor, 1)
        return convert_to_tensor((a - b * np.cos(angles)).astype(dtype.as_numpy_dtype))


def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """The Hann window [window_length]: 0.5 - 0.5 cos(2πn/N). Source: tf.signal.hann_window.

    N is `window_length` for a periodic window of even length, otherwise window_length - 1, which gives a symmetric one.
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """The Hamming window [window_length]: 0.54 - 0.46 cos(2πn/N), with N as for hann_window."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """The window_fn with which inverse_stft reconstructs the signal of an stft with `forward_window_fn`."""
    def window(frame_length, dtype):
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length, step = _number(frame_length, "frame_length"), _number(frame_step, "frame_step")
            forward = forward_window_fn(length, dtype=dtype)
            overlaps = -(-length // step)
            squares = arrays.pad(elementwise.square(forward), [[0, overlaps * step - length]])
            sums = reductions.reduce_sum(arrays.reshape(squares, [overlaps, step]), 0, keepdims=True)
            return forward / arrays.reshape(arrays.tile(sums, [overlaps, 1]), [overlaps * step])[:length]

    return window


# Frames.

def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Divides an axis into frames of `frame_length` elements, which begin every `frame_step` elements.

    The axis becomes two, [frames, frame_length]. With `pad_end`, a frame begins at every `frame_step` up to the end,
    and the last ones are padded with `pad_value`; otherwise only complete frames are returned.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        length, step = _number(frame_length, "frame_length"), _number(frame_step, "frame_step")
        axis, rank = _number(axis, "axis"), signal.shape.ndims
        if rank is None:
            raise NotImplementedError("frame needs a tensor whose rank is known before a step")
        axis = axis + rank if axis < 0 else axis
        known = signal.shape.as_list()[axis]
        size = arrays.shape(signal)[axis] if known is None else known
        if pad_end:
            count = -(-size // step)
            missing = length + step * (count - 1) - size
            missing = elementwise.maximum(0, missing) if known is None else max(0, missing)
            padding = [[0, 0]] * axis + [[0, missing]] + [[0, 0]] * (rank - axis - 1)
            signal = arrays.pad(signal, padding, constant_values=pad_value)
        else:
            count = 1 + (size - length) // step
            count = elementwise.maximum(0, count) if known is None else max(0, count)
        if known is None:
            starts = arrays.expand_dims(sequences.range(count) * step, 1)
            return indexing.gather(signal, starts + np.arange(length, dtype=np.int32), axis=axis)
        return indexing.gather(signal, np.arange(count, dtype=np.int32)[:, np.newaxis] * step
                               + np.arange(length, dtype=np.int32), axis=axis)


def overlap_and_add(signal, frame_step, name=None):
    """The signal [..., samples]: the sum of frames [..., frames, frame_length], one every `frame_step` samples."""
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        if signal.shape.ndims is None or signal.shape.ndims < 2:
            raise ValueError("Rank of signal must be at least 2.")
        step = _number(frame_step, "frame_step")
        *outer, frames, length = signal.shape.as_list()
        if length is None:
            raise NotImplementedError("overlap_and_add needs frames whose length is known before a step")
        sizes = arrays.shape(signal)
        count = sizes[-2] if frames is None else frames
        total = (count - 1) * step + length
        starts = arrays.expand_dims(sequences.range(count) * step, 1)
        places = arrays.reshape(starts + np.arange(length, dtype=np.int32), [-1])
        rows = arrays.transpose(arrays.reshape(signal, arrays.stack([-1, count * length])))
        added = arrays.transpose(segment_ops.unsorted_segment_sum(rows, places, total))
        added = arrays.reshape(added, arrays.concat([sizes[:-2], [total]], 0))
        added.set_shape([*outer, None if frames is None else total])
        return added


# Transforms.

def _fft_length(frame_length):
    """The smallest power of two that is not less than `frame_length`."""
    return 1 << max(0, frame_length - 1).bit_length()


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None):
    """The short-time Fourier transform of signals [..., samples]: complex [..., frames, fft_length // 2 + 1].

    The default of `fft_length` is the smallest power of two that is not less than `frame_length`.
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        if signals.shape.ndims is not None and signals.shape.ndims < 1:
            raise ValueError(f"signals must have at least 1 dimension: {signals}")
        length = _number(frame_length, "frame_length")
        fft_length = _fft_length(length) if fft_length is None else _number(fft_length, "fft_length")
        framed = frame(signals, length, frame_step, pad_end)
        if window_fn is not None:
            framed *= window_fn(length, dtype=framed.dtype)
        return real_fourier.rfft(framed, [fft_length])


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None):
    """The inverse of stft: signals [..., samples] from complex `stfts` [..., frames, fft_length // 2 + 1].

    It reconstructs the signal only with the `window_fn` that inverse_stft_window_fn returns.
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        length = _number(frame_length, "frame_length")
        fft_length = _fft_length(length) if fft_length is None else _number(fft_length, "fft_length")
        frames = real_fourier.irfft(stfts, [fft_length])
        if fft_length < length:
            frames = arrays.pad(frames, [[0, 0]] * (frames.shape.ndims - 1) + [[0, length - fft_length]])
        frames = frames[..., :length]
        if window_fn is not None:
            frames *= window_fn(length, dtype=frames.dtype)
        return overlap_and_add(frames, frame_step)
