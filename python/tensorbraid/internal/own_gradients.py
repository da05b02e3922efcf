"""Gradients that the program defines itself: for ops, for nodes of a graph, and for functions."""

import contextlib
import functools
import inspect
import itertools

from tensorbraid import _core, nest
from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import Graph, convert_to_tensor, make_op

__all__ = ["NoGradient", "NotDifferentiable", "RegisterGradient", "custom_gradient", "grad_pass_through", "no_gradient"]

_functions = {}  # by name: the function that computes the gradient, or None for nodes that stop gradients
_numbers = itertools.count()


def _register(name, function):
    if not isinstance(name, str):
        raise TypeError("op_type must be a string")
    if name in _functions or _core.has_gradient(name):
        raise KeyError(f"Registering two gradient with name '{name}'!")
    _functions[name] = function


class RegisterGradient:
    """A decorator: the function computes the gradient of an op without one, or of what gradient_override_map names.

    The function gets the operation and the gradients of its outputs, and returns one gradient for each input.
    """

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._name = op_type

    def __call__(self, f):
        _register(self._name, f)
        return f


def NotDifferentiable(op_type):
    """Says that gradients stop at the nodes of an op that has no gradient."""
    _register(op_type, None)


NoGradient = no_gradient = NotDifferentiable


def _mark(graph, op, name):
    """Lets the function of this name compute the gradient of the node, unless the node has been marked before."""
    if op.name not in graph._own_gradients:
        is_op = name not in _functions and _core.has_gradient(name)
        graph._own_gradients[op.name] = name
        _core.set_own_gradient(op, name, is_op)


def use(node, function):
    """Makes `function` the gradient function of a new node."""
    _mark(node.graph, node, f"CustomGradient-{next(_numbers)}")
    node.graph._own_gradients[node.name] = function


def mark_imported(graph, node, op):
    """Marks a node of an imported graph whose NodeDef names the function of its gradient."""
    if "_gradient_op_type" in node.attr:
        _mark(graph, op, node.attr["_gradient_op_type"].s.decode())


def _mark_nodes(graph):
    """Marks the nodes that were made since the last call, as the open override maps and registrations want."""
    names = {name: name for name in _functions if not _core.has_gradient(name)}
    names.update(graph._gradient_overrides)
    if names:
        for op in graph.get_operations()[graph._unmarked_from:]:
            if op.type in names:
                _mark(graph, op, names[op.type])
    graph._unmarked_from = graph.version


@contextlib.contextmanager
def _gradient_override_map(self, op_type_map):
    """A context manager: nodes that are made in it use the gradients of `op_type_map`, {op type: name of a gradient}.

    The name is one that tf.RegisterGradient got, or an op type whose gradient is used, as in {"Sign": "Identity"}.
    """
    if not isinstance(op_type_map, dict) or not all(
            isinstance(key, str) and isinstance(value, str) for key, value in op_type_map.items()):
        raise TypeError("op_type_map must be a dictionary mapping strings to strings")
    _mark_nodes(self)
    outer = self._gradient_overrides
    self._gradient_overrides = {**outer, **op_type_map}
    try:
        yield
    finally:
        _mark_nodes(self)
        self._gradient_overrides = outer


def _own_gradient(self, op, grads):
    """Computes the gradients of a marked node, for C++: a list with a tensor or None for each input."""
    name = self._own_gradients[op.name]  # or the function itself
    if not callable(name) and name not in _functions:
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type}): no function was "
                          f"registered as '{name}' with tf.RegisterGradient")
    function = name if callable(name) else _functions[name]
    if function is None:
        return [None] * len(op.inputs)
    grads = [make_op("ZerosLike", [output]).outputs[0] if grad is None and output.dtype.is_floating else grad
             for grad, output in zip(grads, op.outputs)]
    made = function(op, *grads)
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    if len(made) != len(op.inputs):
        raise ValueError(f"Num gradients {len(made)} generated for op '{op.name}' do not match num inputs "
                         f"{len(op.inputs)}")
    return [_checked(op, i, grad) for i, grad in enumerate(made)]


def _checked(op, index, grad):
    if grad is None:
        return None
    grad, value = convert_to_tensor(grad), op.inputs[index]
    if not grad.shape.is_compatible_with(value.shape) and value.dtype.name != "resource":
        raise ValueError(f"Incompatible shapes between op input and calculated input gradient. Forward operation: "
                         f"{op.name}. Input index: {index}. Original input shape: {value.shape}. Calculated input "
                         f"gradient shape: {grad.shape}")
    return grad


Graph.gradient_override_map = _gradient_override_map
Graph._own_gradient = _own_gradient
Graph._mark_own_gradients = _mark_nodes


def _takes_variables(function):
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    return any(p.kind is p.VAR_KEYWORD or p.name == "variables" for p in signature.parameters.values())


def _used_variables(graph, results, args):
    """The trainable variables that the results depend on, other than through the arguments."""
    known = {v.op.name: v for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    stops = {arg.op.name for arg in args}
    found, seen, stack = [], set(), [result.op for result in results]
    while stack:
        op = stack.pop()
        if op.name in seen or op.name in stops:
            continue
        seen.add(op.name)
        if op.name in known:
            found.append(known[op.name])
        stack.extend(tensor.op for tensor in op.inputs)
    return sorted(found, key=lambda variable: list(known).index(variable.op.name))


def custom_gradient(f=None):
    """A decorator for a function that returns its results, and a function that computes the gradients of its arguments.

    The latter gets the gradients of the results. If the results depend on variables, it takes them as the argument
    `variables`, and returns the gradients of the arguments and those of the variables.
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        if kwargs:
            raise ValueError("The custom_gradient decorator currently supports keywords arguments only when eager "
                             "execution is enabled.")
        structure = args
        args = [convert_to_tensor(arg) for arg in nest.flatten(list(args))]
        graph = graphs.graph_of(args)
        results, gradient = f(*nest.pack_sequence_as(list(structure), args))
        flat = [convert_to_tensor(result) for result in nest.flatten(results)]
        variables = _used_variables(graph, flat, args)
        if variables and not _takes_variables(gradient):
            raise TypeError("@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
                            f"variables: {variables}")

        def backward(op, *grads):
            options = {"variables": variables} if variables else {}
            made = gradient(*grads[:len(flat)], **options)
            of_args, of_variables = made if variables else (made, [])
            of_args = nest.flatten(of_args) if isinstance(of_args, (list, tuple)) else [of_args]
            of_variables = list(of_variables) if isinstance(of_variables, (list, tuple)) else [of_variables]
            if len(of_variables) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
            return [None] * len(flat) + of_args + of_variables

        node = make_op("IdentityN", [flat + args + [variable.handle for variable in variables]])
        use(node, backward)
        made = node.outputs[:len(flat)]
        return nest.pack_sequence_as(results, made) if nest.is_nested(results) else made[0]

    return decorated


def grad_pass_through(f):
    """The function f, whose gradient is that of the identity."""
    @custom_gradient
    def identity_gradient(*args):
        def gradient(*grads, variables=None):
            return (list(grads), [None] * len(variables)) if variables else list(grads)

        return f(*args), gradient

    return identity_gradient
