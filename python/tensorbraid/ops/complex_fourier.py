"""Fourier transforms of complex numbers."""

from tensorbraid.ops.op_functions import op_function

fft = op_function("FFT", "input")
fft2d = op_function("FFT2D", "input")
fft3d = op_function("FFT3D", "input")
ifft = op_function("IFFT", "input")
ifft2d = op_function("IFFT2D", "input")
ifft3d = op_function("IFFT3D", "input")

__all__ = ["fft", "fft2d", "fft3d", "ifft", "ifft2d", "ifft3d"]
