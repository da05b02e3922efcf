"""Functions of the program that steps call: tf.py_func."""

import traceback

import numpy as np

from tensorbraid import _core, dtypes, errors
from tensorbraid.internal import graphs

__all__ = ["numpy_function", "py_func", "py_function"]

_ERRORS = {
    TypeError: errors.InvalidArgumentError, ValueError: errors.InvalidArgumentError,
    StopIteration: errors.OutOfRangeError, MemoryError: errors.ResourceExhaustedError,
    NotImplementedError: errors.UnimplementedError,
}


class HostFunction:
    """A function that C++ calls with arrays. It returns a list of arrays."""

    def __init__(self, function):
        self._function = function

    def __call__(self, *arrays):
        try:
            return self._function(*arrays)
        except errors.OpError:
            raise
        except Exception as error:
            kind = next((made for cause, made in _ERRORS.items() if isinstance(error, cause)), errors.UnknownError)
            lines = "".join(traceback.format_tb(error.__traceback__)[1:])
            raise kind(None, None, f"{type(error).__name__}: {error}\n{lines}".rstrip()) from error

    def kept_by(self, graph):
        """This function, which now lives as long as the outermost graph around `graph`."""
        while getattr(graph, "outer_graph", None) is not None:
            graph = graph.outer_graph
        graph.host_functions.append(self)
        return self


def as_array(value, dtype=None):
    """The array for a value that a function of the program has returned; strings as bytes."""
    array = np.asarray(value, order="C", dtype=dtype)
    if array.dtype.kind != "U":
        return array
    encoded = [text.encode() for text in array.ravel().tolist()]
    result = np.empty(len(encoded), np.object_)
    result[:] = encoded
    return result.reshape(array.shape)


def _as_arrays(result):
    if result is None:
        return []
    if isinstance(result, (list, tuple)):
        return [as_array(value) for value in result]
    return [as_array(result)]


def py_func(func, inp, Tout, stateful=True, name=None):
    """Tensors that func(*arrays) computes in each step, in this process.

    The tensors have the dtypes `Tout`, one or a list, and unknown shapes. The function runs on another thread. It must
    run in the process that has built the graph: in a local session, or on a server of this process. Its errors are the
    errors of the step; StopIteration becomes OutOfRangeError.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")
    graph = graphs.get_default_graph()
    inputs = [graphs.convert_to_tensor(value, name="input") for value in inp]
    is_list = isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(dtype) for dtype in (Tout if is_list else [Tout])]
    called = HostFunction(lambda *arrays: _as_arrays(func(*arrays))).kept_by(graph)
    outputs, operation = _core.call_host_function(graph, called, inputs, [t.as_datatype_enum for t in types], stateful,
                                                  name or "")
    if not types:
        return operation
    return outputs if is_list else outputs[0]


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """As py_func."""
    return py_func(func, inp, Tout, stateful, name)


def py_function(func=None, inp=None, Tout=None, name=None):
    """Refused: its function gets eager tensors, which only TensorFlow 2 has."""
    raise NotImplementedError("tf.py_function calls a function on eager tensors; use tf.py_func, whose function gets "
                              "NumPy arrays")
