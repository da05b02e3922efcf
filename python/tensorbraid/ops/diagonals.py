"""Diagonals of matrices, and matrices that are made of them."""

from tensorbraid import dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops import arrays, elementwise
from tensorbraid.ops.arrays import _op
from tensorbraid.ops.op_functions import op_function

matrix_band_part = op_function("MatrixBandPart", "input, num_lower, num_upper")
diag = op_function("Diag", "diagonal")
diag_part = op_function("DiagPart", "input")


def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """An identity matrix, or a batch of them."""
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        columns = num_rows if num_columns is None else num_columns
        batch = [] if batch_shape is None else batch_shape
        if not isinstance(batch, graphs.Tensor):
            batch = list(TensorShape(batch).as_list() if isinstance(batch, TensorShape) else batch)
        square = num_columns is None or (arrays.is_static(num_rows) and arrays.is_static(columns)
                                         and num_rows == columns)
        if arrays.is_static(num_rows) and arrays.is_static(columns):
            diagonal_size = min(arguments.integer("num_rows", num_rows), arguments.integer("num_columns", columns))
        else:
            diagonal_size = elementwise.minimum(num_rows, columns)

        def joined(parts):
            return batch + parts if isinstance(batch, list) else arrays.concat([batch, parts], 0)

        diagonal = arrays.ones(joined([diagonal_size]), dtype)
        if square:
            return matrix_diag(diagonal)
        return matrix_set_diag(arrays.zeros(joined([num_rows, columns]), dtype), diagonal)


def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Matrices with these diagonals."""
    diagonal = convert_to_tensor(diagonal)
    return _op("MatrixDiagV3", [diagonal, k, num_rows, num_cols, _padding(padding_value, diagonal)], name, "diag",
               align=align)


def matrix_diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """The diagonals of matrices."""
    input = convert_to_tensor(input)
    return _op("MatrixDiagPartV3", [input, k, _padding(padding_value, input)], name, "diag_part", align=align)


def _padding(value, tensor):
    return bool(value) if tensor.dtype == dtypes.bool and not isinstance(value, graphs.Tensor) else value


def matrix_set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """The matrices with other diagonals."""
    return _op("MatrixSetDiagV3", [input, diagonal, k], name, "set_diag", align=align)


__all__ = [
    "diag", "diag_part", "eye", "matrix_band_part", "matrix_diag", "matrix_diag_part", "matrix_set_diag",
]
