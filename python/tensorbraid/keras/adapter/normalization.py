"""BatchNormalization as in tf.keras: fused for images, and with TensorFlow's variance of the averages."""

import functools

import tensorbraid as tf
from tensorbraid.keras.adapter.loaded import loaded, replace

__all__ = []


class _Methods:
    """Methods of tf.keras.layers.BatchNormalization."""

    def call(self, inputs, training=None):
        """Normalizes by the moments of the batch in training, otherwise by the averages."""
        backend = loaded("backend")
        training = backend.learning_phase() if training is None else training
        axis = self.axis % inputs.shape.ndims
        is_fused = inputs.shape.ndims == 4 and axis in (1, 3)
        in_training = self._fused if is_fused else self._plain
        if isinstance(training, (bool, int)):
            outputs, mean, variance = in_training(inputs, axis) if training else self._by_averages(inputs, axis)
        else:
            outputs, mean, variance = tf.cond(tf.cast(training, tf.bool), lambda: in_training(inputs, axis),
                                              lambda: self._by_averages(inputs, axis))
        outputs.set_shape(inputs.shape)
        if training is not False and not (isinstance(training, int) and training == 0):
            self.add_update([backend.moving_average_update(self.moving_mean, mean, self.momentum),
                             backend.moving_average_update(self.moving_variance, variance, self.momentum)], [inputs])
        return outputs

    def _fused(self, inputs, axis):
        size = int(inputs.shape[axis])
        scale = tf.ones([size]) if self.gamma is None else self.gamma
        offset = tf.zeros([size]) if self.beta is None else self.beta
        outputs, mean, variance = tf.nn.fused_batch_norm(inputs, scale, offset, epsilon=self.epsilon,
                                                         data_format="NCHW" if axis == 1 else "NHWC")
        return outputs, mean, variance

    def _plain(self, inputs, axis):
        mean, variance = tf.nn.moments(inputs, [other for other in range(inputs.shape.ndims) if other != axis])
        return self._normalized(inputs, axis, mean, variance), mean, variance

    def _by_averages(self, inputs, axis):
        mean, variance = tf.identity(self.moving_mean), tf.identity(self.moving_variance)
        return self._normalized(inputs, axis, mean, variance), mean, variance

    def _normalized(self, inputs, axis, mean, variance):
        shape = [1] * inputs.shape.ndims
        shape[axis] = -1
        is_last = axis == inputs.shape.ndims - 1
        mean, variance, offset, scale = [values if is_last or values is None else tf.reshape(values, shape)
                                         for values in (mean, variance, self.beta, self.gamma)]
        return tf.nn.batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)


def change(normalization):
    """Changes the library's module layers.normalization."""
    kind = normalization.BatchNormalization
    init = kind.__init__

    @functools.wraps(init)
    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, fused=None, renorm=False,
                 virtual_batch_size=None, adjustment=None, **kwargs):
        if renorm or virtual_batch_size or adjustment:
            raise NotImplementedError("renorm, virtual_batch_size and adjustment of BatchNormalization")
        if isinstance(axis, (list, tuple)):
            if len(axis) != 1:
                raise NotImplementedError(f"BatchNormalization along several axes: {list(axis)}")
            axis = axis[0]
        init(self, axis=axis, momentum=momentum, epsilon=epsilon, center=center, scale=scale, **kwargs)

    replace(kind, _Methods)
    kind.__init__ = __init__
