"""Functions that go through a dataset with a state, which each element changes."""

from tensorbraid import nest
from tensorbraid.data import structure
from tensorbraid.internal import arguments, graphs

__all__ = []


def _step(dataset, kind, function, template, tensors, parts):
    """The library function of function(state, element), and the description of the state.

    parts(result) gives the new state and the template and tensors of further results. A size that the function changes
    is not known, so the function is built again without it.
    """
    count, state = len(tensors), structure.description(tensors)
    while True:
        made = []

        def build(args):
            result = function(structure.components(template, args[:count]),
                              structure.components(dataset._template, args[count:]))
            new_state, *more = parts(result)
            new_template, new_tensors = structure.results_of(new_state)
            try:
                nest.assert_same_structure(template, new_template)
            except (TypeError, ValueError) as error:
                raise TypeError(f"the new state has another structure than the initial state: {error}") from None
            for old, new in zip(tensors, new_tensors):
                if old.dtype != new.dtype:
                    raise TypeError(f"the new state has dtype {new.dtype.name}, the initial state {old.dtype.name}")
            made.append((structure.description(new_tensors), *more))
            return [*new_tensors, *(more[1] if more else [])]

        defined = dataset._define(kind, function, build, [*state, *dataset._core.element])
        wider = [(dtype, structure.common_dims(dims, new)) for (dtype, dims), (_, new) in zip(state, made[0][0])]
        if wider == state:
            return defined, state, made[0][1:]
        state = wider


def _lists(element):
    return {"output_types": [dtype for dtype, _ in element], "output_shapes": [dims for _, dims in element]}


def _types(tensors):
    return [tensor.dtype for tensor in tensors]


def reduce(dataset, initial_state, reduce_func):
    """The last state: the state after each element is reduce_func(state, element)."""
    arguments.function("reduce_func", reduce_func)
    template, tensors = structure.tensors_of(initial_state)
    function, state, _ = _step(dataset, "reduce", reduce_func, template, tensors, lambda result: (result,))
    made = graphs.make_op("ReduceDataset", [dataset._variant_tensor, tensors, function.captures], f=function,
                          Tstate=_types(tensors), Targuments=_types(function.captures), **_lists(state))
    return structure.components(template, made.outputs)


def scan(dataset, initial_state, scan_func):
    """The results of scan_func(state, element), which returns a pair: the new state, and an element."""
    def parts(result):
        if not isinstance(result, (list, tuple)) or len(result) != 2:
            raise TypeError("scan_func must return a pair: the new state and an element")
        made, results = structure.results_of(result[1])
        return result[0], made, results

    template, tensors = structure.tensors_of(initial_state)
    function, _, (made, results) = _step(dataset, "scan", scan_func, template, tensors, parts)
    return dataset._add("ScanDataset", [tensors, function.captures], made, structure.description(results), f=function,
                        Tstate=_types(tensors), Targuments=_types(function.captures), preserve_cardinality=True)
