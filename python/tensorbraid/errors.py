"""Errors of graphs, sessions and servers, one class for each status code, named as in tf.errors."""

import copy
import re

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """An error of a step, or of building a graph. `error_code` is one of the codes above."""

    def __init__(self, node_def, op, message, error_code):
        super().__init__(message)
        self.node_def = node_def
        self.op = op
        self.message = message
        self.error_code = error_code

    def __reduce__(self):
        """Supports pickle and copy. The copy's `op` is None, because another process does not have the graph."""
        return _restored, (type(self), self.args, {**self.__dict__, "op": None})

    def __copy__(self):
        return _restored(type(self), self.args, self.__dict__)

    def __deepcopy__(self, memo):
        return _restored(type(self), self.args, copy.deepcopy(self.__dict__, memo))


def _restored(kind, args, attributes):
    """Makes an error from its attributes, without its constructor, which in a subclass may take other arguments."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


def _error(name, code):
    def __init__(self, node_def, op, message):
        OpError.__init__(self, node_def, op, message, code)

    return type(name, (OpError,), {"__init__": __init__, "__module__": __name__})


CancelledError = _error("CancelledError", CANCELLED)
UnknownError = _error("UnknownError", UNKNOWN)
InvalidArgumentError = _error("InvalidArgumentError", INVALID_ARGUMENT)
DeadlineExceededError = _error("DeadlineExceededError", DEADLINE_EXCEEDED)
NotFoundError = _error("NotFoundError", NOT_FOUND)
AlreadyExistsError = _error("AlreadyExistsError", ALREADY_EXISTS)
PermissionDeniedError = _error("PermissionDeniedError", PERMISSION_DENIED)
ResourceExhaustedError = _error("ResourceExhaustedError", RESOURCE_EXHAUSTED)
FailedPreconditionError = _error("FailedPreconditionError", FAILED_PRECONDITION)
AbortedError = _error("AbortedError", ABORTED)
OutOfRangeError = _error("OutOfRangeError", OUT_OF_RANGE)
UnimplementedError = _error("UnimplementedError", UNIMPLEMENTED)
InternalError = _error("InternalError", INTERNAL)
UnavailableError = _error("UnavailableError", UNAVAILABLE)
DataLossError = _error("DataLossError", DATA_LOSS)
UnauthenticatedError = _error("UnauthenticatedError", UNAUTHENTICATED)

_CLASSES = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}


_NODE = re.compile(r"\b(\w+) '([^']+)'")  # how messages name a node, and "tensor 'p'" a placeholder


def add_operation(error, graph):
    """Sets `op` and `node_def` of an error of a step, if its message names a node of the graph."""
    for op_type, name in _NODE.findall(str(error.message)) if error.op is None else ():
        variable = name.removesuffix("/_fetched")  # the read that a fetched variable adds
        try:
            op = graph.get_operation_by_name(variable)
        except (KeyError, ValueError):
            continue
        if op.type == op_type or variable != name or (op_type == "tensor" and op.type.startswith("Placeholder")):
            error.op, error.node_def = op, op.node_def
            return


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor is used like a value of Python: as a condition, or in a loop."""


def exception_type_from_error_code(error_code):
    """The class of errors with this code; UnknownError for a code that is none of TensorFlow's."""
    return _CLASSES.get(error_code, UnknownError)


def error_code_from_exception_type(cls):
    """The code of an error class; UNKNOWN for a class that TensorFlow does not have."""
    return next((code for code, known in _CLASSES.items() if known is cls), UNKNOWN)
