"""The base of layers: scopes, variables, losses and updates."""

import contextlib
import copy
import re

from tensorbraid import dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.partitioned_variables import PartitionedVariable
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.internal.variable_scope import get_variable, variable_scope
from tensorbraid.ops.node import cast, op, shape_of, tensor

__all__ = ["InputSpec", "Layer"]


class InputSpec:
    """The requirements of a layer on its input. A layer's `input_spec` is checked at each call."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None):
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype)
        self.shape = None if shape is None else tuple(TensorShape(shape).as_list())
        self.ndim = ndim if shape is None else len(self.shape)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}

    def check(self, value, layer):
        """Raises ValueError unless the tensor fits."""
        rank = value.shape.ndims
        what = f"Input 0 of layer {layer} is incompatible with the layer: "
        if rank is None:
            if self.ndim is not None or self.min_ndim is not None or self.max_ndim is not None:
                raise ValueError(what + "its rank is undefined, but the layer requires a defined rank.")
            return
        if self.ndim is not None and rank != self.ndim:
            raise ValueError(what + f"expected ndim={self.ndim}, found ndim={rank}. Full shape received: {value.shape}")
        if self.min_ndim is not None and rank < self.min_ndim:
            raise ValueError(what + f"expected min_ndim={self.min_ndim}, found ndim={rank}. Full shape received: "
                             f"{value.shape}")
        if self.max_ndim is not None and rank > self.max_ndim:
            raise ValueError(what + f"expected max_ndim={self.max_ndim}, found ndim={rank}")
        if self.dtype is not None and value.dtype != self.dtype:
            raise ValueError(what + f"expected dtype={self.dtype}, found dtype={value.dtype}")
        for axis, size in self.axes.items():
            found = value.shape.as_list()[axis]
            if size is not None and found not in (size, None):
                raise ValueError(what + f"expected axis {axis} of input shape to have value {size} but received input "
                                 f"with shape {value.shape}")


def snake_case(name):
    """The name of a class in small letters: "max_pooling2d" for MaxPooling2D."""
    name = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    name = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    return name if name[0] != "_" else "private" + name


def _numbered(base):
    """A name such as "dense_1" for a layer without a name; its variables are named independently of it."""
    counts = graphs.get_default_graph().__dict__.setdefault("_layer_counts", {})
    counts[base] = counts.get(base, 0) + 1
    return f"{base}_{counts[base]}"


class Layer:
    """A layer, which makes its variables at its first call and shares them later. Subclasses define build and call."""

    def __init__(self, trainable=True, name=None, dtype=None, activity_regularizer=None, _scope=None, _reuse=None,
                 **kwargs):
        if kwargs:
            raise TypeError(f"Keyword argument not understood: {sorted(kwargs)[0]}")
        self.trainable = trainable
        self.built = False
        self.input_spec = None
        self._base_name = name or snake_case(type(self).__name__)
        self._name = name or _numbered(self._base_name)
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype)
        self._activity_regularizer = activity_regularizer
        self._reuse = _reuse
        self._weights = []
        self._losses = []
        self._updates = []
        self._graph = None
        self._scope = None
        if _scope is not None:
            with variable_scope(_scope) as captured:
                self._scope = captured

    def __deepcopy__(self, memo):
        """A layer with the same arguments, which makes variables of its own at its first call."""
        made = memo[id(self)] = copy.copy(self)
        memo.update((id(variable), variable) for variable, _ in self._weights)
        called = self._graph is not None
        fresh = {"built": False, "_weights": [], "_losses": [], "_updates": [], "_graph": None,
                 "_scope": None if called else self._scope}
        for name, value in vars(self).items():
            if name not in fresh:
                made.__dict__[name] = copy.deepcopy(value, memo)
        made.__dict__.update(fresh)
        return made

    dtype = property(lambda self: self._dtype)
    graph = property(lambda self: self._graph)
    losses = property(lambda self: list(self._losses))
    updates = property(lambda self: list(self._updates) if self.trainable else [])
    weights = property(lambda self: self.trainable_weights + self.non_trainable_weights)
    variables = property(lambda self: self.weights)
    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)
    activity_regularizer = property(lambda self: self._activity_regularizer)

    name = property(lambda self: self._name)

    @property
    def scope_name(self):
        """The variable scope of the layer's variables."""
        if self._scope is None:
            raise ValueError(f"the layer '{self.name}' has no scope yet: its first call determines the name")
        return self._scope.name

    @property
    def trainable_weights(self):
        """The variables that training changes."""
        return [variable for variable, trains in self._weights if trains] if self.trainable else []

    @property
    def non_trainable_weights(self):
        """The variables that training does not change."""
        return [variable for variable, trains in self._weights if not (trains and self.trainable)]

    def build(self, input_shape):
        """Makes the variables. Subclasses override it."""
        self.built = True

    def call(self, inputs, **kwargs):
        """The computation. Subclasses override it."""
        return inputs

    def _set_scope(self, scope=None):
        if self._scope is None:
            opened = variable_scope(scope or self._base_name) if self._reuse or scope else variable_scope(
                None, default_name=self._base_name)
            with opened as captured:
                self._scope = captured

    @contextlib.contextmanager
    def _open(self, reuse):
        """The scopes in which the layer makes variables and nodes."""
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False):
            with graphs.get_default_graph().name_scope(self._scope.original_name_scope):
                yield

    def __call__(self, inputs, *args, **kwargs):
        scope = kwargs.pop("scope", None)
        flat = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        self._graph = graphs.graph_of(flat)
        with self._graph.as_default():
            self._set_scope(scope)
            with self._open(True if self.built else self._reuse):
                inputs, first = self._converted(inputs)
                if not self.built:
                    if self._dtype is None:
                        self._dtype = first.dtype
                    self.build(first.shape if not isinstance(inputs, (list, tuple)) else [i.shape for i in inputs])
                    self.built = True
                outputs = self.call(inputs, *args, **kwargs)
                self._regularize_activity(outputs)
        return outputs

    apply = __call__

    def _converted(self, inputs):
        """The inputs as tensors, and the first of them."""
        if isinstance(inputs, (list, tuple)):
            inputs = type(inputs)([tensor(value) for value in inputs])
            return inputs, inputs[0]
        inputs = tensor(inputs, self._dtype)
        if self.input_spec is not None:
            self.input_spec.check(inputs, self.name)
        return inputs, inputs

    def _regularize_activity(self, outputs):
        if self._activity_regularizer is None:
            return
        for output in outputs if isinstance(outputs, (list, tuple)) else [outputs]:
            with graphs.name_scope("ActivityRegularizer"):
                loss = self._activity_regularizer(output)
                batch = op("StridedSlice", [shape_of(output), [0], [1], [1]], shrink_axis_mask=1)
                self.add_loss(op("RealDiv", [loss, cast(batch, loss.dtype)]))

    def add_weight(self, name, shape, dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None,
                   use_resource=None, partitioner=None, **kwargs):
        """Makes or shares a variable of the layer."""
        for key in kwargs:
            if key not in ("synchronization", "aggregation", "experimental_autocast"):
                raise TypeError(f"Unknown keyword argument: {key}")
        self._set_scope()
        trainable = True if trainable is None else trainable
        graph = graphs.get_default_graph()
        losses = len(graph.get_collection(GraphKeys.REGULARIZATION_LOSSES))
        with self._open(True if self.built else self._reuse):
            variable = get_variable(name, shape, dtypes.as_dtype(dtype or self._dtype or dtypes.float32), initializer,
                                    regularizer, trainable and self.trainable, partitioner=partitioner,
                                    constraint=constraint)
        self._losses.extend(graph.get_collection(GraphKeys.REGULARIZATION_LOSSES)[losses:])
        parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
        self._weights.extend((part, trainable) for part in parts)
        return variable

    add_variable = add_weight

    def add_loss(self, losses, inputs=None):
        """Adds penalties to the collection of regularization losses."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            loss = loss() if callable(loss) else loss
            self._losses.append(loss)
            graphs.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def add_update(self, updates, inputs=None):
        """Adds operations to the collection of updates, which a training step should run, if the layer is trained."""
        if not self.trainable:
            return
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            self._updates.append(update)
            graphs.add_to_collection(GraphKeys.UPDATE_OPS, update)

    def count_params(self):
        """The number of elements of all variables."""
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on layer {self.name}, but the layer isn't built.")
        return sum(variable.shape.num_elements() for variable in self.weights)


def one_of(values, count, name):
    """A tuple of `count` numbers, for one number or a sequence."""
    if isinstance(values, int):
        return (values,) * count
    with arguments.named(name, f"a number or {count} numbers", values):
        values = tuple(int(value) for value in values)
    if len(values) != count:
        raise ValueError(f"The `{name}` argument must be a tuple of {count} integers. Received: {values}")
    return values


def checked_format(data_format):
    """The data format of a layer in small letters, if it is one."""
    arguments.check(isinstance(data_format, str), "data_format", "a string", data_format)
    lower = data_format.lower()
    if lower not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of 'channels_first', 'channels_last'. Received: "
                         f"{data_format}")
    return lower
