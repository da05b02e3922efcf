"""Names that TensorFlow 1.0 removed, and those that took their place. Programs of 2016 have them."""

_NOW = {
    "audio_summary": "summary.audio", "batch_cholesky": "cholesky",
    "batch_cholesky_solve": "cholesky_solve", "batch_fft": "fft", "batch_fft2d": "fft2d", "batch_ifft": "ifft",
    "batch_ifft2d": "ifft2d", "batch_matmul": "matmul", "batch_matrix_band_part": "matrix_band_part",
    "batch_matrix_determinant": "matrix_determinant", "batch_matrix_diag": "matrix_diag",
    "batch_matrix_diag_part": "matrix_diag_part", "batch_matrix_inverse": "matrix_inverse",
    "batch_matrix_set_diag": "matrix_set_diag", "batch_matrix_solve": "matrix_solve",
    "batch_matrix_solve_ls": "matrix_solve_ls", "batch_matrix_transpose": "matrix_transpose",
    "batch_matrix_triangular_solve": "matrix_triangular_solve", "batch_self_adjoint_eig": "self_adjoint_eig",
    "batch_svd": "svd", "complex_abs": "abs", "concat_v2": "concat", "histogram_summary": "summary.histogram",
    "image.per_image_whitening": "image.per_image_standardization", "image_summary": "summary.image",
    "inv": "reciprocal", "listdiff": "setdiff1d", "merge_all_summaries": "summary.merge_all",
    "merge_summary": "summary.merge", "models.rnn.rnn": "nn", "models.rnn.rnn_cell": "nn.rnn_cell",
    "models.rnn.seq2seq": "contrib.legacy_seq2seq", "mul": "multiply", "neg": "negative",
    "nn.bidirectional_rnn": "nn.static_bidirectional_rnn", "nn.deconv2d": "nn.conv2d_transpose",
    "nn.rnn": "nn.static_rnn", "nn.seq2seq": "contrib.legacy_seq2seq", "pack": "stack",
    "scalar_summary": "summary.scalar", "select": "where", "split_v": "split", "sub": "subtract",
    "train.SummaryWriter": "summary.FileWriter", "unpack": "unstack",
}


def now(path):
    """The name in TensorFlow 1 of what `path` was before, or None. `path` may go on after an old name."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        name = _NOW.get(".".join(parts[:end]))
        if name is not None:
            return ".".join([name, *parts[end:]])
    return None
