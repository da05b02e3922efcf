"""Names from before TensorFlow 1.0, which programs of 2016 use, and the functions and modules that replaced them.

The list has a name only if calls of the old function mean the same for the new one. `tf.concat(axis, values)` and
`tf.split(axis, number, value)` are not in the list: their names remained, but the order of their arguments changed.
"""

import importlib
import sys

__all__ = []

_OLD = "tensorflow_python.old_functions."
_NOW = {
    **{message: f"train.{message}" for message in (
        "BytesList", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List",
        "SequenceExample")},
    "RegisterShape": _OLD + "RegisterShape",
    "audio_summary": _OLD + "audio_summary", "batch_cholesky": "cholesky", "batch_cholesky_solve": "cholesky_solve",
    "batch_fft": "fft", "batch_fft2d": "fft2d", "batch_fft3d": "fft3d", "batch_ifft": "ifft", "batch_ifft2d": "ifft2d",
    "batch_ifft3d": "ifft3d", "batch_matmul": _OLD + "batch_matmul", "batch_matrix_band_part": "matrix_band_part",
    "batch_matrix_determinant": "matrix_determinant", "batch_matrix_diag": "matrix_diag",
    "batch_matrix_diag_part": "matrix_diag_part", "batch_matrix_inverse": "matrix_inverse",
    "batch_matrix_set_diag": "matrix_set_diag", "batch_matrix_solve": "matrix_solve",
    "batch_matrix_solve_ls": "matrix_solve_ls", "batch_matrix_transpose": "matrix_transpose",
    "batch_matrix_triangular_solve": "matrix_triangular_solve", "batch_self_adjoint_eig": "self_adjoint_eig",
    "batch_self_adjoint_eigvals": "self_adjoint_eigvals", "batch_svd": "svd", "complex_abs": "abs",
    "concat_v2": "concat", "histogram_summary": _OLD + "histogram_summary",
    "image.per_image_whitening": "image.per_image_standardization", "image_summary": _OLD + "image_summary",
    "inv": "reciprocal", "listdiff": "setdiff1d", "merge_all_summaries": "summary.merge_all",
    "merge_summary": "summary.merge", "mul": "multiply", "neg": "negative",
    "nn.bidirectional_rnn": "nn.static_bidirectional_rnn", "nn.deconv2d": "nn.conv2d_transpose",
    "nn.rnn": "nn.static_rnn", "nn.seq2seq": "contrib.legacy_seq2seq",
    "pack": "stack", "scalar_summary": _OLD + "scalar_summary", "select": _OLD + "select", "split_v": "split",
    "sub": "subtract", "train.SummaryWriter": "summary.FileWriter", "train.SummaryWriterCache":
    "summary.FileWriterCache", "unpack": "unstack",
}
# Modules that have only older names.
_FOLDERS = {"models": "tensorflow_python.old_models"}


def find(path):
    """The object that had this path below tf before TensorFlow 1.0. AttributeError if no object had it."""
    name = _NOW.get(path, _FOLDERS.get(path))
    if name is None:
        raise AttributeError(path)
    module, _, last = name.rpartition(".")
    if module == _OLD[:-1]:
        return getattr(importlib.import_module(f"tensorbraid.{module}"), last)
    if path in _FOLDERS:
        return importlib.import_module(f"tensorbraid.{name}")
    value = sys.modules["tensorbraid"]
    for part in name.split("."):
        value = getattr(value, part)
    return value
