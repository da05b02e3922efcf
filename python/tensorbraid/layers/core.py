"""Dense, Dropout and Flatten."""

from typing import Any

from tensorbraid import _core, nn
from tensorbraid.initializers import Zeros
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.layer_class import InputSpec, Layer, checked_format
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops.node import op, shape_of

__all__ = ["Dense", "Dropout", "Flatten", "dense", "dropout", "flatten", "smart_branch"]


def smart_branch(training, inputs, train, infer):
    """The outputs of train(inputs) or of infer(inputs). A step computes one of them if `training` is a tensor."""
    if isinstance(training, _core.Variable):
        training = training.value()
    if isinstance(training, graphs.Tensor):
        return _core.cond(training.graph, training, lambda: train(inputs), lambda: infer(inputs), "cond")
    return train(inputs) if training else infer(inputs)


_ACTIVATIONS = {"elu": nn.elu, "linear": None, "relu": nn.relu, "selu": nn.selu, "sigmoid": nn.sigmoid,
                "softmax": nn.softmax, "softplus": nn.softplus, "softsign": nn.softsign, "tanh": nn.tanh}


def activation_of(value):
    """The activation of a layer, None if it has none: a function, or the function with such a name in tf.nn."""
    if isinstance(value, str):
        if value not in _ACTIVATIONS:
            raise ValueError(f"Unknown activation function: {value}; give a function, or one of {', '.join(_ACTIVATIONS)}")
        return _ACTIVATIONS[value]
    return None if value is None else arguments.function("activation", value)


class Dense(Layer):
    """activation(inputs · kernel + bias)."""

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = arguments.integer("units", units)
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.kernel = self.bias = None
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape):
        size = TensorShape(input_shape).as_list()[-1]
        if size is None:
            raise ValueError("The last dimension of the inputs to a Dense layer should be defined. Found None. Full "
                             f"input shape received: {input_shape}")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self.add_weight("kernel", [size, self.units], self.dtype, self.kernel_initializer,
                                      self.kernel_regularizer, constraint=self.kernel_constraint)
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.units], self.dtype, self.bias_initializer, self.bias_regularizer,
                                        constraint=self.bias_constraint)
        self.built = True

    def call(self, inputs):
        if inputs.shape.ndims == 2:
            outputs = op("MatMul", [inputs, self.kernel])
        else:
            with graphs.name_scope("Tensordot") as scope:
                rows = op("Reshape", [inputs, [-1, inputs.shape.as_list()[-1]]])
                outputs = op("Reshape", [op("MatMul", [rows, self.kernel]), _sizes(inputs, self.units)], scope)
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)


def _sizes(inputs, last):
    """The shape of the inputs with another last dimension; one unknown size is -1."""
    sizes = inputs.shape.as_list()[:-1]
    if sizes.count(None) <= 1:
        return [-1 if size is None else size for size in sizes] + [last]
    first = op("StridedSlice", [shape_of(inputs), [0], [len(sizes)], [1]])
    return op("ConcatV2", [[first, [last]], 0])


def dense(inputs, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(),
          kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
          bias_constraint=None, trainable=True, name=None, reuse=None) -> graphs.Tensor:
    """activation(inputs · kernel + bias) over the last axis: [..., n] becomes [..., units].

    The size n must be known, or the call raises ValueError. The variables are `kernel`, [n, units], and `bias`,
    [units], in the scope `name`, else "dense", "dense_1", ...; they have the dtype of the inputs.
    """
    return Dense(units, activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer,
                 bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable, name,
                 _scope=name, _reuse=reuse)(inputs)


class Dropout(Layer):
    """While training, sets a part of the elements to 0 at random and scales the others."""

    def __init__(self, rate: Any = 0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, arguments.seed(seed)

    def call(self, inputs, training: Any = False):
        def drop(values):
            return [nn.dropout(values[0], noise_shape=self.noise_shape, seed=self.seed, rate=self.rate)]

        return smart_branch(training, [inputs], drop, lambda values: [op("Identity", values)])[0]


def dropout(inputs, rate: Any = 0.5, noise_shape=None, seed=None, training: Any = False, name=None) -> graphs.Tensor:
    """While `training`, a bool or a bool scalar tensor, sets a part `rate` of the elements to 0 at random."""
    return Dropout(rate, noise_shape, seed, name)(inputs, training=training)


class Flatten(Layer):
    """Each example as a vector."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = checked_format(data_format or "channels_last")
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank > 2:
            inputs = op("Transpose", [inputs, [0] + list(range(2, rank)) + [1]])
        sizes = inputs.shape.as_list()
        if rank == 1:
            return op("ExpandDims", [inputs, 1])
        if None not in sizes[1:]:
            return op("Reshape", [inputs, [-1, TensorShape(sizes[1:]).num_elements()]])
        batch = sizes[0] if sizes[0] is not None else op("StridedSlice", [shape_of(inputs), [0], [1], [1]],
                                                         shrink_axis_mask=1)
        return op("Reshape", [inputs, [batch, -1] if sizes[0] is not None else op("Pack", [[batch, -1]])])


def flatten(inputs, name=None, data_format="channels_last") -> graphs.Tensor:
    """Each example as a vector."""
    return Flatten(data_format, name=name)(inputs)
