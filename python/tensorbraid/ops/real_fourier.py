"""Fourier transforms of real numbers."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays

__all__ = ["fftshift", "ifftshift", "irfft", "irfft2d", "irfft3d", "rfft", "rfft2d", "rfft3d"]


def _resized(x, axes, sizes):
    """Cuts the last axes of x to the given sizes, or pads them with zeros."""
    have = x.shape.as_list()[-axes:] if x.shape.ndims is not None else [None] * axes
    if None in have:
        raise NotImplementedError("fft_length for a tensor whose sizes are not known before a step")
    if any(a > b for a, b in zip(have, sizes)):
        x = x[tuple([Ellipsis] + [slice(0, min(a, b)) for a, b in zip(have, sizes)])]
    if any(a < b for a, b in zip(have, sizes)):
        before = [[0, 0]] * (x.shape.ndims - axes)
        x = arrays.pad(x, before + [[0, max(b - a, 0)] for a, b in zip(have, sizes)])
    return x


def _of_reals(op_type, axes, inverse):
    default_name = op_type.lower()

    def function(input_tensor, fft_length=None, name=None):
        with name_scope(name, default_name, [input_tensor, fft_length]) as scope:
            x = convert_to_tensor(input_tensor, None if inverse else dtypes.float32) if not hasattr(
                input_tensor, "dtype") else convert_to_tensor(input_tensor)
            if inverse != x.dtype.is_complex:
                raise ValueError(f"{default_name} needs {'complex' if inverse else 'real'} numbers, got {x.dtype.name}")
            wide = x.dtype in (dtypes.float64, dtypes.complex128)
            real = dtypes.float64 if wide else dtypes.float32
            if fft_length is None:
                sizes = x.shape.as_list()[-axes:]
                if None in sizes:
                    raise NotImplementedError("without fft_length, the sizes of the tensor must be known before a step")
                length = sizes[:-1] + [max(0, 2 * (sizes[-1] - 1))] if inverse else sizes
            else:
                length = arrays.static_dims(convert_to_tensor(fft_length, dtypes.int32))
                if length is None or len(length) != axes:
                    raise ValueError(f"fft_length must be a constant of {axes} numbers")
                x = _resized(x, axes, length[:-1] + [length[-1] // 2 + 1] if inverse else length)
            lengths = convert_to_tensor(np.array(length, np.int32), name="fft_length")
            kind = {"Treal": real} if inverse else {"Tcomplex": dtypes.complex128 if wide else dtypes.complex64}
            return make_op(op_type, [x, lengths], scope, **kind).outputs[0]

    last = "the last axis" if axes == 1 else f"the last {axes} axes"
    if inverse:
        doc = (f"The inverse Fourier transform over {last}: real numbers from complex ones [..., n // 2 + 1]. Op: "
               f"{op_type}.\n\n`fft_length` has the sizes of the result.")
    else:
        doc = (f"The Fourier transform of real numbers over {last}: complex numbers [..., n // 2 + 1]. Op: {op_type}."
               "\n\nThe axes are cut or padded with zeros to the sizes `fft_length` first.")
    return named(function, default_name, doc)


rfft = _of_reals("RFFT", 1, False)
rfft2d = _of_reals("RFFT2D", 2, False)
rfft3d = _of_reals("RFFT3D", 3, False)
irfft = _of_reals("IRFFT", 1, True)
irfft2d = _of_reals("IRFFT2D", 2, True)
irfft3d = _of_reals("IRFFT3D", 3, True)


def _shifted(default_name, amount):
    def function(x, axes=None, name=None):
        with name_scope(name, default_name):
            x = convert_to_tensor(x)
            chosen = list(range(x.shape.ndims)) if axes is None else [axes] if isinstance(axes, int) else list(axes)
            sizes = [x.shape.as_list()[axis] for axis in chosen]
            if None in sizes:
                raise NotImplementedError(f"{default_name} of a tensor whose sizes are not known before a step")
            return make_op("Roll", [x, [amount(size) for size in sizes], chosen]).outputs[0]

    return named(function, default_name)


fftshift = _shifted("fftshift", lambda size: size // 2)
fftshift.__doc__ = "Moves the zero frequency to the middle of the axes, by default all. Source: tf.signal.fftshift."
ifftshift = _shifted("ifftshift", lambda size: -(size // 2))
ifftshift.__doc__ = "The inverse of fftshift."
