"""The namespace tf.signal: Fourier and cosine transforms, frames and windows. TensorFlow 1 also calls it tf.spectral."""

from tensorbraid.ops.cosine_transforms import *  # noqa: F401,F403
from tensorbraid.ops.real_fourier import *  # noqa: F401,F403
from tensorbraid.ops.short_time_fourier import *  # noqa: F401,F403
from tensorbraid.ops.complex_fourier import fft, fft2d, fft3d, ifft, ifft2d, ifft3d  # noqa: F401

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftshift", "frame", "hamming_window", "hann_window", "idct", "ifft", "ifft2d",
    "ifft3d", "ifftshift", "inverse_stft", "inverse_stft_window_fn", "irfft", "irfft2d", "irfft3d",
    "linear_to_mel_weight_matrix", "mfccs_from_log_mel_spectrograms", "overlap_and_add", "rfft", "rfft2d", "rfft3d",
    "stft"]
