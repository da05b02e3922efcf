"""tensorflow.python.framework.function: Defun, for functions that are stored in the function library of a graph."""

import inspect
import re

from tensorbraid import dtypes, nest
from tensorbraid.internal import graphs, library_functions, own_gradients
from tensorbraid.internal.graphs import convert_to_tensor, make_op
from tensorbraid.internal.variable_scope import get_variable_scope, variable_scope

__all__ = ["Defun", "get_extra_vars"]


def get_extra_vars():
    """The variables that the body of a Defun, which is being built, has made or shared so far; else an empty list."""
    return list(graphs.get_default_graph().lifted_variables or [])


class Defun:
    """A decorator for functions of tensors. A call adds one node; the body is built once for each graph.

    The positional arguments are the dtypes of the function's arguments. Without them, they follow from each call.
    Tensors and variables of the graph that the body uses become further inputs of the node. Variables that the body
    makes are made in that graph, once, in the variable scope of the first call.

    By default the gradient is that of the body. Otherwise it is python_grad_func(op, *grads), which returns a gradient
    for each input of the node, or `grad_func`, another Defun, which gets the inputs and the gradients of the results.
    shape_func(op) returns the shapes of the results. The other arguments have no effect.

    ValueError if both gradient functions are given, or if the dtypes do not fit the function's arguments.
    """

    def __init__(self, *input_types, func_name=None, grad_func=None, python_grad_func=None, out_names=None,
                 shape_func=None, **kwargs):
        self._types = [dtypes.as_dtype(dtype) for dtype in input_types]
        self._name = func_name
        if grad_func is not None and python_grad_func is not None:
            raise ValueError("Gradient defined twice: by grad_func and by python_grad_func")
        self._gradients = grad_func, python_grad_func
        self._shape_func = shape_func

    def __call__(self, func):
        """Decorates a function. The result adds a node at each call."""
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        parameters = list(inspect.signature(func).parameters.values())
        if any(p.kind is p.VAR_KEYWORD or p.default is not p.empty for p in parameters):
            raise ValueError("Functions with argument defaults or keywords arguments are not supported. "
                             f"{func} has {inspect.signature(func)}.")
        count = sum(p.kind is not p.VAR_POSITIONAL for p in parameters)
        takes_more = count < len(parameters)
        types = self._types if self._types or (count == 0 and not takes_more) else None
        if types is not None and not (len(types) == count or takes_more and len(types) > count):
            raise ValueError(f"The function has {count} arguments, which does not fit the {len(types)} specified input "
                             "types.")
        return _Function(func, types, self._name or re.sub(r"\W", "_", func.__name__).strip("_"), *self._gradients, self._shape_func)


class _Definition:
    """A function's body, built for one graph and its argument dtypes, in the graph's function library."""

    def __init__(self, graph, name, types, func):
        with graph.as_default():
            scope = get_variable_scope()

        def build(args):
            with variable_scope(scope, auxiliary_name_scope=False):
                self._structure = func(*args)
            flat = nest.flatten([] if self._structure is None else self._structure)
            if any(result is None for result in flat):
                raise ValueError(f"Function {name} can not return None.")
            return flat

        self.core = library_functions.define(graph, name, [(dtype.as_datatype_enum, None) for dtype in types], build,
                                           lifts_variables=True)

    def packed(self, results):
        """Packs flat results into the structure that the function returned."""
        return nest.pack_sequence_as(self._structure, results)


class _Function:
    """A function of the program that was decorated by Defun."""

    def __init__(self, func, types, name, grad_func, python_grad_func, shape_func):
        self._func, self._types, self._name = func, types, name
        self._grad_func, self.python_grad_func, self._shape_func = grad_func, python_grad_func, shape_func
        self.__name__, self.__doc__ = func.__name__, func.__doc__

    name = property(lambda self: self._name)
    declared_input_types = property(lambda self: self._types)

    @property
    def captured_inputs(self):
        """The tensors of the default graph that the body uses besides its arguments, after a call or add_to_graph."""
        return [tensor for definition in self._definitions(graphs.get_default_graph()).values()
                for tensor in definition.core.captures]

    def add_to_graph(self, g):
        """Builds the body for a graph, as the first call does. ValueError if the dtypes were not declared."""
        if self._types is None:
            raise ValueError(f"add_to_graph needs the input types of {self._name}: declare them in Defun")
        self._definition(g, self._types)

    def __call__(self, *args, name=None, **kwargs):
        """Adds a call to the graph. Returns the results in their structure, or the operation if there are none."""
        if self._types is not None and len(args) != len(self._types):
            raise ValueError(f"Expected number of arguments: {len(self._types)}, received: {len(args)}")
        types = self._types or [None] * len(args)
        args = [convert_to_tensor(arg, dtype) for arg, dtype in zip(args, types)]
        graph = graphs.graph_of(args)
        with graph.as_default():
            definition = self._definition(graph, [arg.dtype for arg in args])
            return self._call(definition, args, name or self._name)

    def _call(self, definition, args, name):
        core = definition.core
        types = [dtypes.as_dtype(number) for number, _ in core.results]
        node = make_op("StatefulPartitionedCall" if core.is_stateful else "PartitionedCall",
                       [args + core.captures], name, Tout=types, f=core)
        if self._grad_func is not None or self.python_grad_func is not None:
            own_gradients.use(node, self.python_grad_func or self._gradient_by_function)
        shapes = self._shape_func(node) if self._shape_func else [shape for _, shape in core.results]
        for output, shape in zip(node.outputs, shapes):
            output.set_shape(shape)
        return definition.packed(node.outputs) if node.outputs else node

    def _gradient_by_function(self, op, *grads):
        made = self._grad_func(*op.inputs, *grads)
        return list(made) if isinstance(made, (list, tuple)) else [made]

    @staticmethod
    def _key(types):
        return tuple(dtype.base_dtype.as_datatype_enum for dtype in types)

    def _definitions(self, graph):
        # The graph owns the bodies, so they are deleted with it.
        return graph.__dict__.setdefault("_defined_functions", {}).setdefault(self, {})

    def _definition(self, graph, types):
        made = self._definitions(graph)
        key = self._key(types)
        if key not in made:
            made[key] = _Definition(graph, self._name, types, self._func)
        return made[key]
