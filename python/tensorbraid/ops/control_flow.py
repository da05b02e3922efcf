"""Conditionals and loops."""

import contextlib
from typing import Any

from tensorbraid import _core, dtypes, errors, nest
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graphs import IndexedSlices, Operation, Tensor, convert_to_tensor, make_op
from tensorbraid.internal.shapes import TensorShape

__all__ = ["case", "cond", "foldl", "foldr", "map_fn", "scan", "switch_case", "while_loop"]


def _is_composite(value):
    return isinstance(value, IndexedSlices) or hasattr(value, "_parts")


def _parts(value):
    """The tensors of a leaf of a structure: itself, or those of a SparseTensor, IndexedSlices or TensorArray."""
    if isinstance(value, IndexedSlices):
        return [part for part in (value.values, value.indices, value.dense_shape) if part is not None]
    if hasattr(value, "_parts"):
        return value._parts()
    return [value if isinstance(value, Tensor) else convert_to_tensor(value)]


def _with_parts(value, parts):
    if isinstance(value, IndexedSlices):
        return IndexedSlices(*parts)
    return value._with_parts(parts) if hasattr(value, "_parts") else parts[0]


def _shapes_of_parts(value, shape):
    """The shapes that the parts of a leaf keep in a loop, for the invariant that is given for the leaf."""
    shape = TensorShape(shape)
    if isinstance(value, IndexedSlices):
        first, rank = (None, None) if shape.ndims is None else (shape.as_list()[0], shape.ndims)
        return [shape, TensorShape([first]), TensorShape([rank])][:len(_parts(value))]
    if hasattr(value, "_shapes_of_parts"):
        return value._shapes_of_parts(shape)
    return [part.shape for part in _parts(value)] if _is_composite(value) else [shape]


class _Structure:
    """How a nested structure is made of tensors."""

    def __init__(self, structure):
        self.structure = structure
        self.leaves = nest.flatten(structure)
        self.tensors = []
        self.counts = []
        for leaf in self.leaves:
            parts = _parts(leaf)
            self.counts.append(len(parts))
            self.tensors.extend(parts)

    def with_tensors(self, tensors):
        leaves, at = [], 0
        for leaf, count in zip(self.leaves, self.counts):
            leaves.append(_with_parts(leaf, tensors[at : at + count]))
            at += count
        return nest.pack_sequence_as(self.structure, leaves)


def _singleton(value):
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value


@contextlib.contextmanager
def _value_errors():
    """Raises what C++ refuses while a graph is built as ValueError, as TensorFlow does."""
    try:
        yield
    except errors.InvalidArgumentError as error:
        raise ValueError(error.message) from None


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None) -> Any:
    """The result of true_fn() if `pred` is true in the step, otherwise of false_fn(). Source: tf.cond."""
    if fn1 is not None and true_fn is not None or fn2 is not None and false_fn is not None:
        raise TypeError("cond(): fn1 and fn2 are old names of true_fn and false_fn; give each only once")
    true_fn = fn1 if true_fn is None else true_fn
    false_fn = fn2 if false_fn is None else false_fn
    for what, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"The {what} argument must be callable.")
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool")
    pred = convert_to_tensor(pred, name="pred")
    structures = []

    def branch(what, function):
        def build():
            result = function()
            if result is None:
                raise ValueError(f"The {what} must have a return value.")
            if not strict:
                result = _singleton(result)
            result = nest.map_structure(lambda leaf: _done(leaf, pred), result)
            structures.append(_Structure(result))
            return structures[-1].tensors

        return build

    with pred.graph.as_default():
        with _value_errors():
            merged = _core.cond(pred.graph, pred, branch("true_fn", true_fn), branch("false_fn", false_fn),
                                name or "cond")
    nest.assert_same_structure(structures[0].structure, structures[1].structure)
    return structures[0].with_tensors(merged)


def _done(leaf, pred):
    """A tensor for the result of a branch; for an operation: the predicate, after the operation has run."""
    if isinstance(leaf, Operation):
        with leaf.graph.control_dependencies([leaf]):
            return make_op("Identity", [pred], "control_dependency").outputs[0]
    return leaf if _is_composite(leaf) else convert_to_tensor(leaf)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case") -> Any:
    """The result of the function whose predicate is the first true one, or of `default` if none is true."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else arguments.items(
        "pred_fn_pairs", pred_fn_pairs, "a list of pairs of a bool tensor and a function")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        if not callable(pair[1]):
            raise TypeError("fn for pred must be callable.")
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    if not pairs:
        raise ValueError("pred_fn_pairs must not be empty")
    with graphs.name_scope(name or "case"):
        checks = []
        if exclusive or default is None:
            count = make_op("AddN", [[make_op("Cast", [pred], DstT=dtypes.int32).outputs[0] for pred, _ in pairs]])
            checks = _counts(count.outputs[0], exclusive, default is None)
        with graphs.control_dependencies(checks):
            if default is None:
                *pairs, (_, default) = pairs
            function = default
            for pred, taken in reversed(pairs):
                function = _one_case(pred, taken, function, strict)
            return function()


def _one_case(pred, taken, otherwise, strict):
    return lambda: cond(pred, taken, otherwise, strict=strict, name="cond")


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The result of the function with the index. An index without one selects `default`, or else the last function."""
    if isinstance(branch_fns, dict):
        pairs = sorted(branch_fns.items())
    elif isinstance(branch_fns, (list, tuple)):
        pairs = list(branch_fns) if branch_fns and isinstance(branch_fns[0], tuple) else list(enumerate(branch_fns))
    else:
        raise TypeError(f"branch_fns must be a list, tuple, or dict, got {type(branch_fns).__name__}")
    if not pairs:
        raise ValueError("branch_fns must not be empty")
    for key, function in pairs:
        if not isinstance(key, int):
            raise TypeError(f"Key must be a Python int, found {key!r}")
        if not callable(function):
            raise TypeError(f"the function of key {key} must be callable")
    if sorted(key for key, _ in pairs) != list(range(len(pairs))):
        raise ValueError(f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found "
                         f"{{{','.join(str(key) for key, _ in pairs)}}}")
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    with graphs.name_scope(name or "switch_case"):
        index = convert_to_tensor(branch_index, name="branch_index")
        if index.dtype != dtypes.int32:
            raise TypeError(f"branch_index must have the dtype int32, got {index.dtype.name}")
        function = default if default is not None else max(pairs)[1]
        for key, taken in reversed(pairs):
            function = _one_case(make_op("Equal", [index, key]).outputs[0], taken, function, False)
        return function()


def _counts(count, exclusive, needs_one):
    """Operations that fail unless as many predicates are true as tf.case allows."""
    checks = []
    if exclusive:
        fits = make_op("LessEqual", [count, 1]).outputs[0]
        checks.append(make_op("Assert", [
            fits, [b"Input error: exclusive=True: more than 1 conditions evaluated as True", count]]))
    if needs_one:
        fits = make_op("GreaterEqual", [count, 1]).outputs[0]
        checks.append(make_op("Assert", [fits, [b"None of the conditions evaluated as True", count]]))
    return checks


def _counted(condition, step, most):
    """The condition and the step of a loop that also ends after `most` iterations, which its first tensor counts."""
    def counted_condition(tensors):
        within = make_op("Less", [tensors[0], most]).outputs[0]
        return make_op("LogicalAnd", [within, condition(tensors[1:])]).outputs[0]

    return counted_condition, lambda tensors: [tensors[0] + 1, *step(tensors[1:])]


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
               name=None, maximum_iterations=None, return_same_structure=False) -> Any:
    """Repeats `body` while `cond` is true. Source: tf.while_loop.

    Both are called with the current values of `loop_vars`; `body` returns their next values.
    """
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    with graphs.graph_of(nest.flatten(loop_vars)).as_default() as graph:
        variables = _Structure(loop_vars)
        shapes = []
        if shape_invariants is not None:
            nest.assert_same_structure(nest.map_structure(lambda _: 0, loop_vars),
                                       _shapes_as_leaves(shape_invariants, loop_vars))
            for leaf, shape in zip(variables.leaves, nest.flatten_up_to(loop_vars, shape_invariants)):
                shapes.extend(part._dims for part in _shapes_of_parts(leaf, shape))

        def condition(tensors):
            packed = variables.with_tensors(tensors)
            return convert_to_tensor(cond(*packed), dtypes.bool)

        def step(tensors):
            result = body(*variables.with_tensors(tensors))
            if not isinstance(result, (list, tuple)) or hasattr(result, "_fields"):
                result = [result]
            nest.assert_same_structure(list(loop_vars), list(result))
            made = []
            for leaf, wanted in zip(nest.flatten(result), variables.leaves):
                kind = _parts(wanted)[0].dtype if not _is_composite(wanted) else None
                made.extend(_parts(leaf) if kind is None or isinstance(leaf, Tensor) else
                            [convert_to_tensor(leaf, kind)])
            return made

        loop_vars = list(loop_vars) if isinstance(loop_vars, (list, tuple)) else loop_vars
        tensors, most = variables.tensors, maximum_iterations
        counts = isinstance(most, Tensor)
        if counts:
            condition, step = _counted(condition, step, most)
            tensors, most = [convert_to_tensor(0, most.dtype, name="loop_counter"), *tensors], None
            shapes = [[], *shapes] if shapes else shapes
        with _value_errors():
            tensors = _core.while_loop(graph, tensors, condition, step, parallel_iterations, back_prop, most, shapes,
                                       name or "while")[counts:]
    packed = variables.with_tensors(tensors)
    return packed if return_same_structure or len(packed) != 1 else packed[0]


def _shapes_as_leaves(shapes, loop_vars):
    return nest.map_structure_up_to(loop_vars, lambda _: 0, shapes)


def _slices(elems):
    leaves = [convert_to_tensor(leaf) for leaf in nest.flatten(elems)]
    for leaf in leaves:
        if leaf.shape.ndims == 0:
            raise ValueError("elems must be 1+ dimensional Tensors, not scalars")
    return leaves


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None, fn_output_signature=None) -> Any:
    """Applies `fn` to each slice of `elems` along the first dimension, and stacks the results. Source: tf.map_fn."""
    if not callable(fn):
        raise TypeError(arguments.must_be("fn", "a function", fn))
    if not infer_shape:
        raise NotImplementedError("infer_shape=False: results of different shapes cannot be stacked")
    dtype = fn_output_signature if dtype is None else dtype
    result_structure = elems if dtype is None else dtype
    with graphs.graph_of(nest.flatten(elems)).as_default() as graph:
        leaves = _slices(elems)
        wanted = [leaf.dtype for leaf in leaves] if dtype is None else [dtypes.as_dtype(d) for d in nest.flatten(dtype)]

        def function(slices):
            result = fn(nest.pack_sequence_as(elems, slices))
            nest.assert_same_structure(result_structure, result)
            return [convert_to_tensor(leaf, kind) for leaf, kind in zip(nest.flatten(result), wanted)]

        made = _core.map_fn(graph, function, leaves, [kind.as_datatype_enum for kind in wanted],
                            parallel_iterations or 10, back_prop, name or "map")
    return nest.pack_sequence_as(result_structure, made)


def _fold(kind, fn, elems, initializer, parallel_iterations, back_prop, reverse, name):
    """The loop of foldl, foldr and scan."""
    if not callable(fn):
        raise TypeError(arguments.must_be("fn", "a function", fn))
    with graphs.graph_of(nest.flatten(elems)).as_default() as graph:
        leaves = _slices(elems)
        if reverse:
            leaves = [make_op("ReverseV2", [leaf, [0]]).outputs[0] for leaf in leaves]
        structure = elems if initializer is None else initializer
        if initializer is None:
            initial = [_strided(leaf, 0, 1, 1) for leaf in leaves]
            leaves = [_strided(leaf, 1, 0, 0) for leaf in leaves]
        else:
            initial = [convert_to_tensor(leaf) for leaf in nest.flatten(initializer)]

        def function(values):
            accumulated = nest.pack_sequence_as(structure, values[: len(initial)])
            result = fn(accumulated, nest.pack_sequence_as(elems, values[len(initial) :]))
            nest.assert_same_structure(structure, result)
            return [convert_to_tensor(leaf, value.dtype) for leaf, value in zip(nest.flatten(result), initial)]

        made = kind(graph, function, leaves, initial, parallel_iterations, back_prop, name)
        if kind is _core.scan and initializer is None:
            made = [make_op("ConcatV2", [[make_op("ExpandDims", [first, 0]).outputs[0], rest], 0]).outputs[0]
                    for first, rest in zip(initial, made)]
        if kind is _core.scan and reverse:
            made = [make_op("ReverseV2", [leaf, [0]]).outputs[0] for leaf in made]
    return nest.pack_sequence_as(structure, made)


def _strided(tensor, begin, end, shrink):
    """tensor[begin], or tensor[begin:] if `shrink` is 0."""
    return make_op("StridedSlice", [tensor, [begin], [end], [1]], end_mask=0 if shrink else 1,
                   shrink_axis_mask=shrink).outputs[0]


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None) -> Any:
    """Combines the slices of `elems`, from the first to the last: fn(accumulated, slice). Source: tf.foldl."""
    return _fold(_core.foldl, fn, elems, initializer, parallel_iterations, back_prop, False,
                 name or "foldl")


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None) -> Any:
    """As foldl, from the last slice to the first. Source: tf.foldr."""
    return _fold(_core.foldl, fn, elems, initializer, parallel_iterations, back_prop, True,
                 name or "foldr")


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None) -> Any:
    """As foldl, but returns the accumulated values after each slice, stacked. Source: tf.scan."""
    if not infer_shape:
        raise NotImplementedError("infer_shape=False: results of different shapes cannot be stacked")
    return _fold(_core.scan, fn, elems, initializer, parallel_iterations, back_prop, reverse,
                 name or "scan")
