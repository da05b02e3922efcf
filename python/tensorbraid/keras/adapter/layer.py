"""Layers as in tf.keras: names from 0, variables of the graph's collections, and calls with any tensors."""

import inspect

import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.keras import added_methods, dependencies
from tensorbraid.keras.adapter import calls, shapes
from tensorbraid.keras.adapter.loaded import loaded, replace
from tensorbraid.tensorflow_python.keras import sessions

__all__ = []


def unique_name(kind):
    """The name of a new layer of this class: "dense", then "dense_1", "dense_2", ... in the default graph."""
    base_layer = loaded("engine.base_layer")
    name = base_layer._to_snake_case(kind.__name__)
    count = base_layer.K.get_uid("layer " + name) - 1
    return f"{name}_{count}" if count else name


def _layers_in(value):
    """The layers in a list, tuple or dictionary."""
    layer = loaded("engine.base_layer").Layer
    return [item for item in nest.flatten(value) if isinstance(item, layer)]


class _Methods:
    """Methods of tf.keras.layers.Layer that the library's layers have not, or that do more."""

    def __init__(self, trainable=True, name=None, dtype=None, dynamic=False, **kwargs):
        if dynamic:
            raise NotImplementedError(f"the layer {name or type(self).__name__} with dynamic=True: there is no eager "
                                      "execution; write its call() with ops of the graph")
        for neutral in ("autocast", "experimental_autocast", "time_major", "ragged"):  # in files of TensorFlow, too
            if kwargs.pop(neutral, None) and neutral in ("time_major", "ragged"):
                raise NotImplementedError(f"the layer {name or type(self).__name__} with {neutral}=True")
        activity_regularizer = kwargs.pop("activity_regularizer", None)
        dtype = None if dtype is None else tf.as_dtype(dtype).name
        self._library_init(trainable=trainable, name=name or unique_name(type(self)), dtype=dtype, **kwargs)
        if activity_regularizer is not None:
            self.activity_regularizer = loaded("regularizers").get(activity_regularizer)

    def __init_subclass__(cls, **kwargs):
        super(loaded("engine.base_layer").Layer, cls).__init_subclass__(**kwargs)
        shapes.adapt(cls)

    def __setattr__(self, name, value):
        if isinstance(value, (list, tuple, dict)) and not name.startswith("_"):
            self.__dict__.setdefault("_containers", {})[name] = value
        self._library_setattr(name, value)

    @property
    def _layers(self):
        """The layers that are attributes, and those in lists and dictionaries that are, which may have grown."""
        found = self.__dict__.setdefault("_own_layers", [])
        for value in self.__dict__.get("_containers", {}).values():
            found += [layer for layer in _layers_in(value) if not any(layer is other for other in found)]
        return found

    @_layers.setter
    def _layers(self, value):
        self.__dict__["_own_layers"] = value

    @property
    def name(self):
        """The name of the layer, which is the scope of its variables and operations."""
        return self._name

    @name.setter
    def name(self, value):
        self.__dict__["_name"] = value

    def _name_scope(self):
        return self.name

    def add_weight(self, name=None, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None,
                   constraint=None, partitioner=None, use_resource=None, collections=None, **kwargs):
        """A variable of the layer, which is also one of the graph."""
        if partitioner is not None:
            raise NotImplementedError(f"the partitioner of the variable {name} of the layer {self.name}")
        kwargs.pop("synchronization", None), kwargs.pop("aggregation", None), kwargs.pop("experimental_autocast", None)
        if kwargs:
            raise TypeError(f"Unknown keyword argument: {', '.join(kwargs)}")
        dtype = tf.as_dtype(dtype or self.dtype or loaded("backend").floatx())
        shape = shapes.as_tuples(() if shape is None else shape if isinstance(shape, (tuple, list, tf.TensorShape))
                                 else (shape,))
        if None in shape:
            raise ValueError(f"the variable {name} of the layer {self.name} would have the shape {tuple(shape)}; the "
                             "sizes of the layer's inputs that it depends on must be known")
        if initializer is None:
            initializer = "glorot_uniform" if dtype.is_floating else "zeros"
        if isinstance(initializer, type):
            initializer = initializer()
        initializer = loaded("initializers").get(initializer)
        trainable = True if trainable is None else trainable
        variable = tf.Variable(lambda: initializer(shape, dtype=dtype.name), trainable=trainable, name=name,
                               dtype=dtype, constraint=constraint, collections=collections)
        variable._tracked = True
        self.__dict__.setdefault("_weights_by_name", {})[name or "Variable"] = variable
        sessions.track(variable)
        if regularizer is not None:
            with tf.name_scope(f"{name or 'Variable'}/Regularizer"):
                self.add_loss(loaded("regularizers").get(regularizer)(variable))
        (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
        return variable

    def add_variable(self, *args, **kwargs):
        """The same as add_weight."""
        return self.add_weight(*args, **kwargs)

    def add_loss(self, losses, inputs=None):
        """Adds losses: tensors, numbers, or functions without arguments that return them."""
        losses = [loss() if callable(loss) else loss for loss in nest.flatten(losses) if loss is not None]
        self._library_add_loss(losses, None if inputs is True else inputs)

    def add_update(self, updates, inputs=None):
        """Adds operations that run with each step of training."""
        updates = updates if isinstance(updates, list) else [] if updates is None else [updates]
        updates = [update() if callable(update) else update for update in updates]
        self._library_add_update(updates, None if inputs is True else inputs)

    def add_metric(self, value, aggregation=None, name=None):
        """Adds a metric: a tensor, whose mean is taken, or the result of a tf.keras.metrics.Metric."""
        if aggregation not in (None, "mean"):
            raise ValueError(f"We currently support only `mean` sample-wise metric aggregation. You provided "
                             f"aggregation=`{aggregation}`")
        self._library_add_metric(value, name)

    def compute_output_shape(self, input_shape):
        """The shapes of what `call` returns for inputs of these shapes."""
        def placeholder(shape):
            return tf.placeholder(self.dtype, shape)

        inputs = shapes._mapped(placeholder, shapes.as_tensor_shapes(input_shape))
        with tf.name_scope("compute_output_shape/"):
            return nest.map_structure(shapes.static, self(inputs))

    def get_updates_for(self, inputs):
        """The updates that depend on the inputs; with None, those that depend on no call."""
        return dependencies.for_inputs(self, dependencies.collected(self, "_updates"), inputs)

    def get_losses_for(self, inputs):
        """The losses that depend on the inputs; with None, those that depend on no call."""
        return dependencies.for_inputs(self, dependencies.collected(self, "_losses"), inputs)

    variables = property(lambda self: self.weights)
    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)
    inbound_nodes = property(lambda self: self._inbound_nodes)
    outbound_nodes = property(lambda self: self._outbound_nodes)
    dynamic = property(lambda self: False)


def change(base_layer):
    """Changes the library's module engine.base_layer."""
    layer = base_layer.Layer
    layer._library_init, layer._library_setattr = layer.__init__, layer.__setattr__
    layer._library_add_loss, layer._library_add_update = layer.add_loss, layer.add_update
    layer._library_add_metric = layer.add_metric
    replace(layer, _Methods)
    replace(layer, added_methods.OfLayers)
    layer.__init_subclass__ = classmethod(_Methods.__dict__["__init_subclass__"].__func__)
    layer.__init__.__signature__ = inspect.signature(_Methods.__init__)
    layer.__call__ = calls.call
    base_layer.print = lambda *args: None  # the library prints each variable that becomes an attribute of a layer
    shapes.adapt(layer)
