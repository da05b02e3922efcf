"""Batch normalization."""

import numbers
from typing import Any

from tensorbraid import dtypes, nn
from tensorbraid.initializers import Ones, Zeros
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.layer_class import InputSpec, Layer
from tensorbraid.layers.core import smart_branch
from tensorbraid.ops.node import cast, op, tensor

__all__ = ["BatchNormalization", "batch_normalization"]


class BatchNormalization(Layer):
    """Normalizes each feature with the moments of the batch, or with their moving averages when not training."""

    def __init__(self, axis=-1, momentum: Any = 0.99, epsilon=1e-3, center=True, scale=True, beta_initializer=Zeros(),
                 gamma_initializer=Ones(), moving_mean_initializer=Zeros(), moving_variance_initializer=Ones(),
                 beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None,
                 renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None, trainable=True,
                 virtual_batch_size=None, adjustment=None, name=None, **kwargs):
        super().__init__(trainable, name, **kwargs)
        if renorm or renorm_clipping is not None or virtual_batch_size is not None or adjustment is not None:
            raise NotImplementedError("renorm, virtual_batch_size and adjustment of batch normalization")
        arguments.check(isinstance(momentum, numbers.Real) or hasattr(momentum, "dtype"), "momentum",
                        "a number or a scalar tensor", momentum)
        axes = list(axis) if isinstance(axis, (list, tuple)) else [axis]
        if len(axes) != 1:
            raise NotImplementedError("batch normalization of several axes")
        self.axis = axes[0]
        self.momentum, self.epsilon, self.center, self.scale, self.fused = momentum, epsilon, center, scale, fused
        self.beta_initializer, self.gamma_initializer = beta_initializer, gamma_initializer
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint
        self.gamma = self.beta = self.moving_mean = self.moving_variance = None

    def build(self, input_shape):
        rank = input_shape.ndims
        if rank is None:
            raise ValueError(f"Input has undefined rank. Received: input_shape={input_shape}")
        axis = arguments.integer("axis", self.axis)
        if not -rank <= axis < rank:
            raise ValueError(f"Invalid axis: {self.axis}")
        self.axis %= rank
        size = input_shape.as_list()[self.axis]
        if size is None:
            raise ValueError(f"Input has undefined `axis` dimension. Received input with shape {input_shape}")
        fusible = rank == 4 and self.axis in (1, 3) and self.dtype != dtypes.float64
        if self.fused and not fusible:
            raise ValueError("fused batch normalization is for images of rank 4 with the features in axis 1 or 3")
        self.fused = fusible if self.fused is None else self.fused
        self.input_spec = InputSpec(ndim=rank, axes={self.axis: size})
        kind = dtypes.float32 if self.dtype.name in ("float16", "bfloat16") else self.dtype
        if self.scale:
            self.gamma = self.add_weight("gamma", [size], kind, self.gamma_initializer, self.gamma_regularizer,
                                         constraint=self.gamma_constraint)
        if self.center:
            self.beta = self.add_weight("beta", [size], kind, self.beta_initializer, self.beta_regularizer,
                                        constraint=self.beta_constraint)
        partitioner = self._scope.partitioner
        self._scope.set_partitioner(None)  # the averages are updated as a whole
        self.moving_mean = self.add_weight("moving_mean", [size], kind, self.moving_mean_initializer, trainable=False)
        self.moving_variance = self.add_weight("moving_variance", [size], kind, self.moving_variance_initializer,
                                               trainable=False)
        self._scope.set_partitioner(partitioner)
        self.built = True

    def call(self, inputs, training: Any = False):
        kind = self.moving_mean.dtype
        size = self.moving_mean.shape.as_list()
        gamma = tensor(self.gamma) if self.scale else graphs.constant(1.0, kind, size)
        beta = tensor(self.beta) if self.center else graphs.constant(0.0, kind, size)
        normalize = self._images if self.fused else self._general
        outputs, mean, variance = smart_branch(
            training, [inputs, gamma, beta, self.moving_mean.value(), self.moving_variance.value()],
            lambda values: normalize(*values, True), lambda values: normalize(*values, False))
        if isinstance(training, graphs.Tensor) or training:
            self.add_update([self._moved(self.moving_mean, mean), self._moved(self.moving_variance, variance)])
        return outputs

    def _images(self, inputs, gamma, beta, mean, variance, training):
        averages = {} if training else {"mean": mean, "variance": variance}
        found = nn.fused_batch_norm(inputs, gamma, beta, **averages, epsilon=self.epsilon, is_training=training,
                                    data_format="NHWC" if self.axis == 3 else "NCHW")
        return list(found) if training else [found[0], mean, variance]

    def _general(self, inputs, gamma, beta, mean, variance, training):
        wide = cast(inputs, mean.dtype)
        rank = inputs.shape.ndims
        if training:
            mean, variance = nn.moments(wide, [axis for axis in range(rank) if axis != self.axis])
        sizes = [1] * rank
        sizes[self.axis] = -1

        def aligned(vector):
            return vector if self.axis == rank - 1 else op("Reshape", [vector, sizes])

        outputs = nn.batch_normalization(wide, aligned(mean), aligned(variance), aligned(beta), aligned(gamma),
                                         self.epsilon)
        return [cast(outputs, inputs.dtype), mean, variance]

    def _moved(self, average, value):
        """The update that moves an average towards the value of the batch."""
        with graphs.name_scope("AssignMovingAvg"):
            delta = op("Mul", [op("Sub", [average, value]), 1.0 - self.momentum])
            return average.assign_sub(delta, read_value=False)


def batch_normalization(inputs, axis=-1, momentum: Any = 0.99, epsilon=1e-3, center=True, scale=True,
                        beta_initializer=Zeros(), gamma_initializer=Ones(), moving_mean_initializer=Zeros(),
                        moving_variance_initializer=Ones(), beta_regularizer=None, gamma_regularizer=None,
                        beta_constraint=None, gamma_constraint=None, training: Any = False, trainable=True, name=None,
                        reuse=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None,
                        virtual_batch_size=None, adjustment=None) -> graphs.Tensor:
    """Batch normalization. `training` is a bool or a bool scalar tensor."""
    layer = BatchNormalization(axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
                               moving_mean_initializer, moving_variance_initializer, beta_regularizer,
                               gamma_regularizer, beta_constraint, gamma_constraint, renorm, renorm_clipping,
                               renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name, _scope=name,
                               _reuse=reuse)
    return layer(inputs, training=training)
