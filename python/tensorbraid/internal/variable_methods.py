"""The methods of variables, and the functions that update variables."""

import contextlib

from tensorbraid import _core, dtypes
from tensorbraid.internal import arguments, graphs, meta_graph_names
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graph_elements import no_array
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.shapes import TensorShape

__all__ = ["assign", "assign_add", "assign_sub", "batch_scatter_update", "count_up_to", "scatter_add", "scatter_div",
           "scatter_max", "scatter_min", "scatter_mul", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update",
           "scatter_sub", "scatter_update"]

_Variable = _core.Variable


def _method(name):
    def decorate(function):
        setattr(_Variable, name, function)
        return function

    return decorate


_Variable.dtype = property(lambda self: dtypes.as_dtype(self._dtype))
_Variable.shape = property(lambda self: TensorShape(self._shape))
_Variable.device = property(lambda self: self.op.device)
_Variable.constraint = property(lambda self: getattr(self, "_constraint", None))
_Variable._shared_name = property(lambda self: self.op.name)
_Variable._as_graph_element = lambda self: self.handle if self._table is not None else self._shared_read
_Variable.__copy__ = lambda self: self
_Variable.__array__ = no_array
_Variable.__array_priority__ = 100
_Variable.__repr__ = lambda self: f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"
_Variable.get_shape = lambda self: self.shape


def _run_in(session):
    from tensorbraid.internal.session import get_default_session

    session = session or get_default_session()
    if session is None:
        raise ValueError("Either session argument should be provided or default session should be established")
    arguments.check(hasattr(session, "run"), "session", "a tf.Session", session)
    return session


@_method("to_proto")
def _to_proto(self, export_scope=None):
    """The VariableDef with the names of the variable's nodes. `export_scope` is removed from the names.

    None if the variable is outside of that scope.
    """
    from tensorbraid import proto

    definition = proto.VariableDef.FromString(self._definition())
    return meta_graph_names.scoped(definition, export_scope) if export_scope else definition


def _from_proto(variable_def, import_scope=None):
    """The variable of the default graph whose nodes a VariableDef names. `import_scope` is added to the names.

    Returns the existing object if the graph has one for the variable. A new object is not added to any collection.
    """
    from tensorbraid import proto

    graph, meta_graph = graphs.get_default_graph(), proto.MetaGraphDef()
    data = proto.message("VariableDef", variable_def, "variable_def").SerializeToString()
    definition = proto.VariableDef.FromString(data)
    meta_graph.collection_def[GraphKeys.GLOBAL_VARIABLES].bytes_list.value.append(data)
    if import_scope:
        meta_graph_names.prefix_names(meta_graph, import_scope.rstrip("/") + "/", without=set())
        data, = meta_graph.collection_def[GraphKeys.GLOBAL_VARIABLES].bytes_list.value
        definition = proto.VariableDef.FromString(data)
    known = [variable for variable in _core.variables(graph) if variable.name == definition.variable_name]
    if known:
        return known[0]
    variables = _core.import_meta_graph(graph, meta_graph.SerializeToString())[0]
    return variables[GraphKeys.GLOBAL_VARIABLES][0]


_Variable.from_proto = staticmethod(_from_proto)


@_method("eval")
def _eval(self, session=None):
    """The value in this session, or in the default session."""
    return _run_in(session).run(self)


@_method("load")
def _load(self, value, session=None):
    """Sets the value in this session, or in the default session."""
    _run_in(session).run(self.initializer, {self.initial_value: value})


@_method("initialized_value")
def _initialized_value(self):
    """The value, or the initial value if the variable has none yet."""
    initialized = make_op(self._op_for("VarIsInitializedOp"), [self]).outputs[0]
    return _core.cond(self.graph, initialized, lambda: [self.read_value()], lambda: [self.initial_value], "cond")[0]


@_method("sparse_read")
def _sparse_read(self, indices, name=None):
    """The rows with these indices; of a growing table, the rows of these keys."""
    if self._table is not None:
        return _core.embedding_lookup([self], indices, _core.PartitionStrategy.MOD, None, None, name or "Gather")
    with self.graph.colocate_with(self.op):
        if self._is_reference:
            return make_op("Gather", [self.handle, indices], name or "Gather").outputs[0]
        return make_op("ResourceGather", [self, indices], name or "Gather", dtype=self.dtype).outputs[0]


def updated(variable, op_type, inputs, name, read_value=True, **attrs):
    """Adds a node that updates the variable. Returns the value after the update, or the operation."""
    with variable.graph.colocate_with(variable.op):
        operation = make_op(variable._op_for(op_type), [variable] + inputs, name or op_type, **attrs)
    if not read_value:
        return operation
    with variable.graph.control_dependencies([operation]):
        return variable.read_value()


def _assignment(op_type, method):
    def update(self, value, use_locking=None, name=None, read_value=True):
        shaped = op_type == "AssignVariableOp"
        if isinstance(value, graphs.Tensor) and value.dtype != self.dtype:
            raise TypeError(f"Cannot {method} a tensor of type {value.dtype.name} to variable '{self.name}' of type "
                            f"{self.dtype.name}")
        value = graphs.convert_to_tensor(value, self.dtype, name="value")
        if not self.shape.is_compatible_with(value.shape):
            raise ValueError(f"Cannot {method} value to variable '{self.name}': Shape mismatch. The variable shape "
                             f"{self.shape}, and the value shape {value.shape} are incompatible.")
        attrs = {"validate_shape": self.shape.is_fully_defined()} if shaped else {}
        return updated(self, op_type, [value], name, read_value, **attrs)

    return named(update, method,
                 f"{op_type} with this value; returns the new value, or the operation without `read_value`.")


_Variable.assign = _assignment("AssignVariableOp", "assign")
_Variable.assign_add = _assignment("AssignAddVariableOp", "assign_add")
_Variable.assign_sub = _assignment("AssignSubVariableOp", "assign_sub")


@_method("_assign_slice")
def _assign_slice(self, vectors, value, masks, name):
    """Assigns to a strided slice. `vectors` are begin, end and strides. Returns the variable's new value."""
    return updated(self, "ResourceStridedSliceAssign", [*vectors, value], name, T=self.dtype, **masks)


def _variable(ref, op_type):
    """The variable that `ref` denotes.

    That is a variable, its value such as graph.get_tensor_by_name("w:0"), its handle, or what an update has returned.
    """
    if not isinstance(ref, graphs.Tensor):
        arguments.check(hasattr(ref, "assign"), "ref", "a tf.Variable", ref)
        return ref
    variable = _core.variable_of(ref.op.inputs[0] if _updates(ref) else ref)
    if variable is None:
        raise TypeError(f"'{op_type}' Op requires that input 'ref' be a mutable tensor (e.g.: a tf.Variable), got "
                        f"{ref}")
    return variable


def _updates(ref):
    """The updates of the variable whose value after them `ref` is."""
    if not isinstance(ref, graphs.Tensor) or ref.op.type != "ReadVariableOp":
        return []
    handle = ref.op.inputs[0].op.name
    return [op for op in ref.op.control_inputs if any(source.op.name == handle for source in list(op.inputs)[:1])]


@contextlib.contextmanager
def _target(ref, op_type):
    """The variable that `ref` denotes. What the block adds comes after the updates that have returned `ref`."""
    variable = _variable(ref, op_type)
    with variable.graph.control_dependencies(_updates(ref)):
        yield variable


def assign(ref, value, validate_shape=None, use_locking=None, name=None) -> graphs.Tensor:
    """Sets a variable, or a slice of one. Returns the variable's new value."""
    if isinstance(ref, graphs.Tensor) and hasattr(ref, "assign"):  # a slice
        return ref.assign(value, name=name)
    with _target(ref, "Assign") as variable:
        if validate_shape is False and variable.shape.is_fully_defined():
            value = graphs.convert_to_tensor(value, variable.dtype, name="value")
            if not variable.shape.is_compatible_with(value.shape):
                raise NotImplementedError(f"validate_shape=False for the variable '{variable.name}', which was made with "
                                          f"the shape {variable.shape}, and a value of the shape {value.shape}: make the "
                                          "variable with validate_shape=False")
        return variable.assign(value, name=name)


def assign_add(ref, value, use_locking=None, name=None) -> graphs.Tensor:
    """Adds to a variable. Returns its new value."""
    with _target(ref, "AssignAdd") as variable:
        return variable.assign_add(value, name=name)


def assign_sub(ref, value, use_locking=None, name=None):
    """Subtracts from a variable. Returns its new value."""
    with _target(ref, "AssignSub") as variable:
        return variable.assign_sub(value, name=name)


def count_up_to(ref, limit, name=None):
    """Increments a variable and returns its old value; OutOfRangeError once it is `limit`."""
    with _target(ref, "CountUpTo") as variable:
        return make_op(variable._op_for("ResourceCountUpTo"), [variable], name or "CountUpTo", limit=limit,
                       T=variable.dtype).outputs[0]


_Variable.count_up_to = count_up_to


def _scatter(kind):
    op_type = f"ResourceScatter{kind}"
    nd = kind.startswith("Nd")

    def function(ref, indices, updates, use_locking=None, name=None):
        with _target(ref, f"Scatter{kind}") as variable:
            updates = graphs.convert_to_tensor(updates, variable.dtype)
            return updated(variable, op_type, [indices, updates], name or f"Scatter{kind}")

    def method(self, *slices, use_locking=False, name=None):
        if nd:
            return function(self, *slices, name=name)
        arguments.check(hasattr(slices[0], "indices"), "sparse_delta", "tf.IndexedSlices", slices[0])
        return function(self, slices[0].indices, slices[0].values, name=name)

    snake = {"NdAdd": "scatter_nd_add", "NdSub": "scatter_nd_sub", "NdUpdate": "scatter_nd_update"}.get(
        kind, f"scatter_{kind.lower()}")
    setattr(_Variable, snake, named(method, snake, f"Updates rows of the variable with {op_type}. "
                                    "Returns its new value."))
    return named(function, snake, f"Updates rows of a variable with {op_type}. Returns its new value.")


scatter_add = _scatter("Add")
scatter_div = _scatter("Div")
scatter_max = _scatter("Max")
scatter_min = _scatter("Min")
scatter_mul = _scatter("Mul")
scatter_sub = _scatter("Sub")
scatter_update = _scatter("Update")


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """Sets rows of each part of a variable: row `indices[i, j]` of part i to `updates[i, j]`."""
    from tensorbraid.ops import arrays, elementwise, sequences

    with graphs.name_scope(name):
        indices = graphs.convert_to_tensor(indices, name="indices")
        sizes = indices.shape.as_list()
        if None in sizes:
            raise NotImplementedError("batch_scatter_update with indices whose shape is not known")
        last = arrays.expand_dims(indices, -1)
        grids = [arrays.reshape(sequences.range(size), [-1 if i == at else 1 for i in range(len(sizes))] + [1])
                 for at, size in enumerate(sizes[:-1])]
        before = [elementwise.cast(arrays.tile(grid, [1 if i == at else size for i, size in enumerate(sizes)] + [1]),
                                   indices.dtype) for at, grid in enumerate(grids)]
        return scatter_nd_update(ref, arrays.concat(before + [last], -1), updates)


scatter_nd_add = _scatter("NdAdd")
scatter_nd_sub = _scatter("NdSub")
scatter_nd_update = _scatter("NdUpdate")


def _of_value(name):
    def operator(self, *args):
        method = getattr(self.value(), name, None)
        return NotImplemented if method is None else method(*args)

    return named(operator, name)


# Operators that only tensors define apply to the value of the variable. bool(variable) is not one of them: as in
# TensorFlow 1 it is True, because programs write `average or variable`.
for _name in ("__xor__", "__rxor__", "__iter__"):
    setattr(_Variable, _name, _of_value(_name))
